//! Built-in recipes and templates are embedded: a new file among them must rebuild the crate.

fn main() {
    println!("cargo:rerun-if-changed=recipes");
    println!("cargo:rerun-if-changed=templates");
    println!("cargo:rerun-if-changed=build.rs");
}
