//! Chromium, driven by its command line.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde::Deserialize;

/// What looks at pages from within.
const LOOK: &str = include_str!("look.html");

pub struct Chromium {
    program: PathBuf,
}

/// A page in a window of this width.
#[derive(serde::Serialize)]
pub struct Page<'a> {
    pub name: &'a str,
    pub width: u32,
    pub html: &'a str,
}

/// A page as Chromium shows it.
#[derive(Debug, Deserialize)]
pub struct View {
    pub name: String,
    pub width: u32,
    /// The requested color scheme, and the displayed one.
    pub dark: bool,
    pub is_dark: bool,
    pub charts: u32,
    pub faults: Vec<String>,
}

impl Chromium {
    /// The one of this machine; installed where that can be.
    pub fn find() -> Self {
        let lab = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lab/browser");
        let output = Command::new(lab).output().unwrap();
        let reason = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "no Chromium: {reason}");
        let stdout = String::from_utf8_lossy(&output.stdout);
        let program = stdout.lines().next().unwrap().into();
        Self { program }
    }

    fn run(&self, more: &[&str], page: &Path) -> Output {
        let profile = tempfile::tempdir().unwrap();
        let output = Command::new(&self.program)
            .args([
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--no-first-run",
                "--hide-scrollbars",
                "--window-size=1500,1000",
            ])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .args(more)
            .arg(format!("file://{}", page.display()))
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output
    }

    /// Looks at pages in frames: a window of Chromium itself is never narrower than 500.
    pub fn look(&self, scratch: &Path, pages: &[Page<'_>], dark: bool) -> Vec<View> {
        let pages = serde_json::to_string(pages).unwrap();
        // In a script a text may not end it.
        let pages = pages.replace('<', "\\u003c");
        let file = scratch.join("look.html");
        fs::write(&file, LOOK.replacen("= PAGES", &format!("= {pages}"), 1)).unwrap();
        let scheme = format!("--blink-settings=preferredColorScheme={}", u8::from(!dark));
        let output = self.run(&[&scheme, "--virtual-time-budget=60000", "--dump-dom"], &file);
        let text = String::from_utf8_lossy(&output.stdout);
        let (_, json) = text.split_once("<pre id=\"found\">").expect("it was looked at");
        let (json, _) = json.split_once("</pre>").unwrap();
        let json = json
            .replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&nbsp;", " ")
            .replace("&amp;", "&");
        serde_json::from_str(&json).unwrap()
    }

    /// Returns a page's console messages while this option writes its output.
    fn console(&self, page: &Path, option: &str) -> Vec<String> {
        let logged = ["--enable-logging=stderr", "--log-level=0", "--no-pdf-header-footer", option];
        let output = self.run(&logged, page);
        let stderr = String::from_utf8_lossy(&output.stderr);
        let lines = stderr.lines().filter(|line| line.contains(":CONSOLE"));
        lines.map(str::to_owned).collect()
    }

    /// Returns a page's console messages, and its number of printed pages.
    pub fn printed(&self, scratch: &Path, page: &Path) -> (Vec<String>, usize) {
        let file = scratch.join("printed.pdf");
        let console = self.console(page, &format!("--print-to-pdf={}", file.display()));
        let bytes = fs::read(file).unwrap();
        assert!(bytes.starts_with(b"%PDF"));
        let text = String::from_utf8_lossy(&bytes);
        (console, text.matches("/Type /Page\n").count())
    }

    /// Returns its console messages, and the size of a screenshot in bytes.
    pub fn screenshot(&self, scratch: &Path, page: &Path) -> (Vec<String>, usize) {
        let file = scratch.join("picture.png");
        let console = self.console(page, &format!("--screenshot={}", file.display()));
        (console, fs::read(file).unwrap().len())
    }
}
