//! Repositories from a folder: `FOLDER/owner/name/…`.

use std::fs;
use std::path::Path;

use super::repository::Repository;

/// Files of these kinds are LFS files, as in every model's `.gitattributes`.
const LFS: [&str; 8] = ["safetensors", "bin", "pt", "pth", "gguf", "onnx", "npy", "parquet"];

/// From this many bytes on a file is an LFS file, whatever its name: the real hub refuses larger
/// ones in git.
const LARGE: usize = 10 << 20;

/// Every repository of a folder.
pub fn repositories(folder: &Path) -> Vec<Repository> {
    let mut found = Vec::new();
    for owner in folders(folder) {
        for repository in folders(&owner) {
            let name = format!("{}/{}", last(&owner), last(&repository));
            found.push(read(Repository::new(&name), &repository, &repository));
        }
    }
    found
}

fn read(mut repository: Repository, root: &Path, folder: &Path) -> Repository {
    let mut entries: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            repository = read(repository, root, &path);
            continue;
        }
        let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
        let content = fs::read(&path).unwrap();
        let ending = path.extension().unwrap_or_default().to_string_lossy();
        repository = if content.len() > LARGE || LFS.contains(&&*ending) {
            repository.lfs(&name, content)
        } else {
            repository.file(&name, content)
        };
    }
    repository
}

fn folders(path: &Path) -> Vec<std::path::PathBuf> {
    let mut found: Vec<_> = fs::read_dir(path)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    found.sort();
    found
}

fn last(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}
