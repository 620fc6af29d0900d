//! The sections of a page are alternatives unless they share a container.

use retrial_import::{MeasuredFigures, NoCompanions, Refusal, Selection, draft_from_guide};

const PAGE: &str = "# Train\n```bash\nexport SIZE=1\ndocker run -it --gpus 8 a/b:1 bash\n```\n## Small\n```bash\n\
    pip install small\n```\n```bash\n./train.sh small\n```\n## Large\n```bash\npip install large\n./train.sh large\n```\n";

fn recipe(page: &str, selection: Selection) -> Result<String, Refusal> {
    let draft = draft_from_guide("README.md", page, selection, &NoCompanions)?;
    Ok(draft.write("x", &MeasuredFigures::default()).recipe)
}

#[test]
fn a_page_with_several_commands_lists_them() {
    let Err(Refusal::Choose(candidates)) = recipe(PAGE, Selection::All) else {
        panic!("the page has two trainings")
    };
    let listed: Vec<String> = candidates
        .iter()
        .map(|one| format!("{} {} {}", one.line, one.headings.join("/"), one.shown))
        .collect();
    assert_eq!(listed, ["11 Train/Small ./train.sh small", "16 Train/Large ./train.sh large"]);
}

#[test]
fn the_chosen_command_has_its_container_and_the_preparation_of_its_section() {
    for selection in [Selection::Line(15), Selection::Line(14), Selection::Step(2)] {
        let recipe = recipe(PAGE, selection).unwrap();
        assert!(recipe.contains("run: \"./train.sh large\""), "{recipe}");
        assert!(recipe.contains("pip install large") && recipe.contains("a/b:1"), "{recipe}");
        assert!(!recipe.contains("small"), "{recipe}");
    }
    assert!(matches!(recipe(PAGE, Selection::Step(3)), Err(Refusal::Choose(_))));
}

#[test]
fn a_server_is_paired_with_the_client_that_names_its_model() {
    let page = "```bash\ndocker run -it --gpus 8 a/v:1 bash\n```\n```bash\nvllm serve acme/small &\n```\n```bash\n\
        vllm serve acme/large --port 81 &\n```\n```bash\nvllm bench serve --model acme/small\n```\n```bash\n\
        vllm bench serve --model acme/large --port 81\n```\n";
    let large = recipe(page, Selection::Line(14)).unwrap();
    assert!(large.contains("run: vllm serve acme/large --port 81"), "{large}");
    assert!(!large.contains("acme/small"), "{large}");
    let of_server = recipe(page, Selection::Line(8)).unwrap();
    assert!(of_server.contains("vllm bench serve --model acme/large"), "{of_server}");
}

#[test]
fn blocks_that_are_no_commands_are_not_read() {
    for block in [
        "@inproceedings{x,\n  title={T},\n}",
        "from datasets import load_dataset\ndata = load_dataset(\"x\")",
        "repo/\n├── docker/\n│   └── Dockerfile",
        "throughput: 812 images/s",
    ] {
        let page = format!(
            "# Guide\n```\n{block}\n```\n```bash\ndocker run --gpus 8 debian:12 ./bench\n```\n"
        );
        let recipe = recipe(&page, Selection::All).unwrap();
        assert!(recipe.contains("run: \"./bench\""), "{recipe}");
        assert!(!recipe.contains("setup:") && !recipe.contains("host before"), "{recipe}");
    }
}
