//! From a site file's text to a checked [`Site`]. Pure.

use super::Site;
use retrial_document::{Diagnostics, Keys as _, Source, parse_and_validate, parse_yaml};

/// Returns whether a file is a site: it has `scheduler`, which no recipe and no batch has.
pub fn is_site(source: &Source) -> bool {
    let begins = |line: &str| line.starts_with("scheduler");
    source.text.lines().any(begins)
        && parse_yaml(source, &mut Diagnostics::default())
            .is_some_and(|node| node.get("scheduler").is_some() && node.get("submission").is_none())
}

/// Reads a site file.
///
/// # Errors
/// All its problems, each with its position.
pub fn read_site(source: &Source) -> Result<Site, Diagnostics> {
    let mut problems = Diagnostics::default();
    let site = parse_site(source, &mut problems);
    problems.into_result(site, &source.path)
}

fn parse_site(source: &Source, problems: &mut Diagnostics) -> Option<Site> {
    let site_keys = parse_and_validate::<Site>(source, "docs/clusters.md", problems)?;
    // Only one of them may be given.
    if let Some(second) = site_keys.get("gres").and(site_keys.get("gpus_per_node")) {
        let message = "`gres` and `gpus_per_node` request the same GPUs twice";
        let help = "keep the one that the site's documentation shows; an exclusive node needs none";
        problems.error("duplicate", message, &second.span, help);
    }
    Site::from_keys(&site_keys)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(text: &str) -> String {
        let source = Source::new("sites/lab.yaml", text);
        read_site(&source).map_or_else(|problems| problems.to_string(), |site| format!("{site:#?}"))
    }

    #[test]
    fn the_least_site() {
        let site = read_site(&Source::new("s.yaml", "schema: 1\nscheduler: slurm\n")).unwrap();
        assert!(site.exclusive);
        assert_eq!((site.gres, site.time_limit, site.home), (None, None, None));
    }

    #[test]
    fn every_problem_has_a_position() {
        insta::assert_snapshot!(problems(
            "schema: 1\nscheduler: pbs\npartion: gpu\naccount: a b\ngres: 8\ngpus_per_node: 8\n\
             time_limit: 04:00:00\noptions: [--job-name=x, --time=10]\nhome: runs\n\
             engine: sudo docker\nenv: { 1X: a, A: \"b\\nc\" }\nexclusive: maybe\n"
        ));
    }

    #[test]
    fn gpus_are_requested_once() {
        let both = problems("schema: 1\nscheduler: slurm\ngres: gpu:8\ngpus_per_node: 8\n");
        assert!(both.contains("the same GPUs twice"), "{both}");
    }

    #[test]
    fn sites_are_distinguished_from_recipes() {
        let is = |text: &str| is_site(&Source::new("x.yaml", text));
        assert!(is("schema: 1\nscheduler: slurm\n"));
        assert!(is("scheduler: pbs\n"));
        assert!(!is("schema: 1\nsubmission: {}\nscheduler: x\n"));
        assert!(!is("schema: 1\nrun: |\n  scheduler: slurm\n"));
    }
}
