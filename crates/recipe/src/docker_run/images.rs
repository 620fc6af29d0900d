//! The image of a recipe: pulled, or built as the block builds it.

use itertools::Itertools as _;
use retrial_container::ImageRef;

use super::parts::RecipeParts;
use super::values::Word;
use crate::writer::{map_node, text_node};

/// Sets the image: a text, or one param, because a recipe has no image of text and params.
pub(super) fn add_image(parts: &mut RecipeParts<'_>, word: &Word) {
    let literal = parts.literal(word);
    let is_param =
        word.text.starts_with("${{ params.") && word.text.find("}}") == Some(word.text.len() - 2);
    let text = if is_param {
        word.text.clone()
    } else if !literal.contains("${{ params.") {
        literal.clone()
    } else {
        let written = parts.written(word);
        parts.shell.values.declare("image", &written, None, None)
    };
    if !literal.contains("${{")
        && let Err(error) = ImageRef::parse(&literal)
    {
        let help = "an image is [registry/]name[:tag][@sha256:…]: give the whole command line";
        parts.refuse(format!("no image follows the flags: {error}"), word, help);
    }
    if let Some(image) = parts.take("the image", &word.with_text(text)) {
        parts.image = image;
    }
}

/// Sets the build of the image, if the recipe can have it.
pub(super) fn add_build(parts: &mut RecipeParts<'_>, words: &[Word], image: &str) {
    let texts: Vec<String> = words.iter().map(|word| parts.literal(word)).collect();
    let (mut tag, mut dockerfile, mut context, mut arguments) = (None, None, None, Vec::new());
    let mut is_known = true;
    let mut rest = texts.iter();
    while let Some(text) = rest.next() {
        let (name, attached) = text
            .split_once('=')
            .map_or((&**text, None), |(name, value)| (name, Some(value.to_owned())));
        let mut value = || attached.clone().or_else(|| rest.next().cloned()).unwrap_or_default();
        match name {
            "-t" | "--tag" => tag = Some(value()),
            "-f" | "--file" => dockerfile = Some(value()),
            "--build-arg" => {
                let argument = value();
                let (name, text) = argument.split_once('=').unwrap_or((&argument, ""));
                arguments.push((name.to_owned(), text_node(text)));
            }
            "--progress" => drop(value()),
            "--no-cache" | "--pull" | "--rm" | "--load" => {}
            other if other.starts_with('-') => is_known = false,
            _ => context = Some(text.clone()),
        }
    }
    let shown = words.iter().map(|word| parts.written(word)).join(" ");
    let is_below = |path: &str| {
        !path.starts_with(['/', '~'])
            && !path.contains("${{")
            && !path.contains("..")
            && !path.contains("://")
    };
    let context = context.unwrap_or_default();
    let context = context.trim_start_matches("./").trim_end_matches('/');
    if tag.as_deref() != Some(image) || !is_known || context.is_empty() || !is_below(context) {
        parts.note(format!(
            "`docker build {shown}`: build the image on the host before, as the guide does"
        ));
        return;
    }
    let mut keys = vec![("context", text_node(context))];
    if let Some(path) = dockerfile {
        let relative = path.strip_prefix(context).map(|rest| rest.trim_start_matches('/'));
        let relative = relative.filter(|_| context != ".").unwrap_or(&path).to_owned();
        if !is_below(&relative) {
            parts.note(format!(
                "`docker build {shown}`: build the image on the host before, as the guide does"
            ));
            return;
        }
        keys.push(("dockerfile", text_node(relative)));
    }
    if !arguments.is_empty() {
        keys.push(("args", map_node(arguments)));
    }
    parts.note(format!("`docker build {shown}`: the recipe builds the image from this Dockerfile, which must be next to it"));
    parts.build = Some(map_node([("build", map_node(keys))]));
}
