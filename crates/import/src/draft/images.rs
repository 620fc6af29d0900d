//! The image of a recipe: pulled, or built as the guide builds it.

use retrial_container::ImageRef;
use retrial_document::Node;
use retrial_recipe::writer::{map_node, text_node};

use super::builder::Builder;
use crate::shell::{Part, Word, is_ellipsis};

/// Returns the image as text of a recipe: a reference, or one parameter, since a recipe has no image of text and
/// parameters.
pub fn image_text(builder: &mut Builder<'_>, word: &Word) -> String {
    if let Some(id) = word.only_param() {
        return builder.values.expression(id);
    }
    let known = word.known(&builder.values);
    if known.as_deref().is_some_and(is_ellipsis) {
        let help = "give the whole command line, up to the image and its command";
        builder.refuse("the guide leaves out the image", &word.span, help);
        return String::new();
    }
    let is_blank = known.as_deref().is_some_and(is_placeholder);
    match known.filter(|_| !is_blank) {
        Some(known) => {
            if let Err(error) = ImageRef::parse(&known) {
                let help =
                    "an image is [registry/]name[:tag][@sha256:…]: give the whole command line";
                builder.refuse(format!("no image follows the flags: {error}"), &word.span, help);
            }
            known
        }
        None if word
            .parts
            .iter()
            .any(|part| matches!(part, Part::Problem(_) | Part::Secret(_))) =>
        {
            builder.take("the image", word).unwrap_or_default()
        }
        None => {
            let sketch = word.sketch(&builder.values);
            let shown = sketch.clone();
            let id = builder.values.add_param(
                "image",
                &word.written,
                None,
                Some(format!("the image, for `{shown}`")),
            );
            builder.values.expression(id)
        }
    }
}

/// Whether a text in the place of an image is the guide's word for one: `YOUR_IMAGE`, `<yy.mm>`, `xx.yy`.
fn is_placeholder(text: &str) -> bool {
    let is_capitals = text
        .chars()
        .all(|letter| letter.is_ascii_uppercase() || matches!(letter, '_' | '-' | '0'..='9'))
        && text.contains(|letter: char| letter.is_ascii_uppercase());
    let tag = text.rsplit_once(':').map_or("", |(_, tag)| tag).to_lowercase();
    let is_open_tag = ["xx.", "yy.", "x.y", "xx-", "<"].iter().any(|start| tag.starts_with(start))
        || tag.contains(".xx")
        || tag.contains(".yy")
        || tag == "tag";
    is_capitals || is_open_tag
}

/// Sets the build of the image, if the recipe can have it.
pub fn add_build(builder: &mut Builder<'_>, words: &[Word], image: &str) {
    let texts: Vec<String> = words.iter().map(|word| word.sketch(&builder.values)).collect();
    let shown = words.iter().map(|word| word.written.clone()).collect::<Vec<_>>().join(" ");
    match read_build(&texts, image) {
        Some(build) => {
            builder.note(format!("`docker build {shown}`: the recipe builds the image from this Dockerfile, which must be next to it"));
            builder.build = Some(map_node([("build", build)]));
        }
        None => builder.note(format!(
            "`docker build {shown}`: build the image on the host before, as the guide does"
        )),
    }
}

fn read_build(texts: &[String], image: &str) -> Option<Node> {
    let (mut tag, mut dockerfile, mut context, mut arguments) = (None, None, None, Vec::new());
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
            other if other.starts_with('-') => return None,
            _ => context = Some(text.clone()),
        }
    }
    let is_below = |path: &str| {
        !path.starts_with(['/', '~', '$']) && !path.contains("..") && !path.contains("://")
    };
    let context = context?;
    let context = context.trim_start_matches("./").trim_end_matches('/');
    if tag.as_deref() != Some(image) || context.is_empty() || !is_below(context) {
        return None;
    }
    let mut keys = vec![("context", text_node(context))];
    if let Some(path) = dockerfile {
        let relative = path.strip_prefix(context).map(|rest| rest.trim_start_matches('/'));
        let relative = relative.filter(|_| context != ".").unwrap_or(&path).to_owned();
        if !is_below(&relative) {
            return None;
        }
        keys.push(("dockerfile", text_node(relative)));
    }
    if !arguments.is_empty() {
        keys.push(("args", map_node(arguments)));
    }
    Some(map_node(keys))
}
