//! From a site file's text to a checked [`Site`]. Pure.

use super::model::{Site, both};
use retrial_document::{Diagnostics, Keys as _, Plain, Source, Validator, Value, parse};

/// Whether a file is a site: it has `scheduler`, which no recipe and no batch has.
#[must_use]
pub fn is_site(source: &Source) -> bool {
    let begins = |line: &str| line.starts_with("scheduler");
    source.text.lines().any(begins)
        && parse(source, &mut Diagnostics::default())
            .is_some_and(|node| node.get("scheduler").is_some() && node.get("submission").is_none())
}

/// Reads a site file.
///
/// # Errors
/// Every problem of it, each with its place.
pub fn read(source: &Source) -> Result<Site, Diagnostics> {
    let mut problems = Diagnostics::default();
    let site = try_read(source, &mut problems);
    match site {
        Some(site) if !problems.has_errors() => Ok(site),
        _ => {
            problems.sort(&source.path);
            Err(problems)
        }
    }
}

fn try_read(source: &Source, problems: &mut Diagnostics) -> Option<Site> {
    let node = parse(source, problems)?;
    if !matches!(node.value, Value::Map(_)) {
        let message = format!("a site is a map of keys; this is {}", node.kind());
        let help = "begin with `schema: 1`; docs/clusters.md has an example";
        problems.error("wrong-type", message, &node.span, help);
        return None;
    }
    for entry in node.entries().iter().filter(|entry| entry.append) {
        let message = format!("`{}+` has nothing to append to", entry.key);
        let help = "a site extends nothing; remove the +";
        problems.error("append", message, &entry.key_span, help);
    }
    let top = source.span(0..0);
    let checked = Validator::new(&mut Plain, problems).object(&node, Site::OBJECT, &top);
    if let Some(second) = both(&checked) {
        let message = "`gres` and `gpus_per_node` ask for the same GPUs twice";
        let help = "keep the one that the site's documentation shows; an exclusive node needs none";
        problems.error("duplicate", message, &second.span, help);
    }
    Site::from_keys(&checked)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(text: &str) -> String {
        let source = Source::new("sites/lab.yaml", text);
        read(&source).map_or_else(|problems| problems.to_string(), |site| format!("{site:#?}"))
    }

    #[test]
    fn the_least_site() {
        let site = read(&Source::new("s.yaml", "schema: 1\nscheduler: slurm\n")).unwrap();
        assert!(site.exclusive);
        assert_eq!((site.gres, site.time_limit, site.home), (None, None, None));
    }

    #[test]
    fn every_problem_has_its_place() {
        insta::assert_snapshot!(problems(
            "schema: 1\nscheduler: pbs\npartion: gpu\naccount: a b\ngres: 8\ngpus_per_node: 8\n\
             time_limit: 04:00:00\noptions: [--job-name=x, --time=10]\nhome: runs\n\
             engine: sudo docker\nenv: { 1X: a, A: \"b\\nc\" }\nexclusive: maybe\n"
        ));
    }

    #[test]
    fn gpus_are_asked_for_once() {
        let both = problems("schema: 1\nscheduler: slurm\ngres: gpu:8\ngpus_per_node: 8\n");
        assert!(both.contains("the same GPUs twice"), "{both}");
    }

    #[test]
    fn a_site_is_no_recipe() {
        let is = |text: &str| is_site(&Source::new("x.yaml", text));
        assert!(is("schema: 1\nscheduler: slurm\n"));
        assert!(is("scheduler: pbs\n"));
        assert!(!is("schema: 1\nsubmission: {}\nscheduler: x\n"));
        assert!(!is("schema: 1\nrun: |\n  scheduler: slurm\n"));
    }
}
