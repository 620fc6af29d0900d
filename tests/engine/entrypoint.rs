//! `retrial new --from` reads the entrypoint of an image that the engine has.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::process::{Command, Output};

use super::support::lab::{Lab, Named, docker};

/// An image with an entrypoint, which is removed at the end.
struct Image(String);

impl Image {
    fn with_entrypoint(lab: &Lab) -> Self {
        let container = Named::new("entrypoint");
        let name = format!("{}:1", container.0);
        docker(&["create", "--name", &container.0, &lab.busybox()]);
        let changes = ["ENTRYPOINT [\"/bin/echo\", \"speed:\"]", "CMD [\"42\"]"];
        docker(&["commit", "-c", changes[0], "-c", changes[1], &container.0, &name]);
        Self(name)
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        let _ = Command::new("docker").args(["rmi", &self.0]).output();
    }
}

fn new_recipe(directory: &std::path::Path, name: &str, line: &str) -> (Output, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_retrial"))
        .args(["new", name, "--from", line])
        .current_dir(directory)
        .output()
        .unwrap();
    let recipe = std::fs::read_to_string(directory.join(name)).unwrap();
    (output, recipe)
}

#[tokio::test]
#[ignore = "needs the lab"]
async fn the_entrypoint_of_an_image_is_read() {
    let lab = Lab::here().await;
    let image = Image::with_entrypoint(&lab);
    let directory = tempfile::tempdir().unwrap();
    let line = format!("docker run --rm {} -n 7", image.0);
    let (output, recipe) = new_recipe(directory.path(), "known.yaml", &line);
    assert!(recipe.contains("run: \"/bin/echo speed: -n 7\""), "{recipe}");
    let notes = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(notes.contains("which this engine's"), "{notes}");
    // An image that the engine does not have is asked for.
    let (_, recipe) = new_recipe(directory.path(), "unknown.yaml", "docker run none/such:1 -n 7");
    assert!(recipe.contains("the image's entrypoint, then `-n 7`"), "{recipe}");
}
