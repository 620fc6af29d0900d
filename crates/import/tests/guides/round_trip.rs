//! Generated command lines and typed blocks: bash, with a stand-in for docker, and the recipe's shell plan give the same
//! words and the same files.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use super::{made, recipe_from_block, script};

/// A generator of numbers that gives the same ones each time (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap()
    }

    fn pick<'a>(&mut self, texts: &[&'a str]) -> &'a str {
        texts[self.below(texts.len())]
    }
}

fn bash(script: &str, directory: &Path) -> Vec<u8> {
    let output = Command::new("bash")
        .arg("-c")
        .arg(script)
        .current_dir(directory)
        .env_clear()
        .output()
        .unwrap();
    assert!(output.stderr.is_empty(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

const WORDS: [&str; 22] = [
    "a",
    "--n=1",
    "'x y'",
    "\"x  y\"",
    "x\\ y",
    "$ONE",
    "\"$ONE\"",
    "\"$TWO\"",
    "$TWO",
    "${ONE}z",
    "\"-${TWO}-\"",
    "'$ONE'",
    "\"\\$ONE\"",
    "${UNUSED:-def}",
    "\"${UNUSED:-d}\"",
    "$'t\\tx'",
    "{p,q}",
    "a#b",
    "'#'",
    "\"it's\"",
    "'\"'",
    "%s",
];

#[test]
fn arguments_behind_an_image_are_those_of_bash() {
    let mut random = Random(1);
    let directory = tempfile::tempdir().unwrap();
    for _ in 0..700 {
        let count = 1 + random.below(5);
        let words: Vec<&str> = (0..count).map(|_| random.pick(&WORDS)).collect();
        let gap = random.pick(&[" ", "  ", " \\\n    "]);
        let block = format!(
            "ONE=v1\nTWO='b c'\ndocker run --rm -e K=1 {} debian:12 prog {}\n",
            random.pick(&["--ipc=host", "--network host", "--privileged"]),
            words.join(gap)
        );
        let stand_in = "docker() { while [ \"$1\" != debian:12 ]; do shift; done; shift; printf '%s\\0' \"$@\"; }\n";
        let theirs = bash(&format!("{stand_in}{block}"), directory.path());
        let read =
            recipe_from_block(&block).unwrap_or_else(|problems| panic!("{block}: {problems}"));
        let (_, executed) = made(&script(&read.recipe, &[]));
        let program = "prog() { printf '%s\\0' prog \"$@\"; }\n";
        let ours = bash(&format!("{program}{}", executed[0]), directory.path());
        let shown = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace('\0', "|");
        assert_eq!(shown(&ours), shown(&theirs), "{block}\n{}", executed[0]);
    }
}

const LINES: [&str; 12] = [
    "cat > a.txt <<'EOF'\n  text $X\nEOF",
    "N=3\ncat <<EOF > b-$N.txt\nn: $N\nEOF",
    "F=c.yml\ncat << EOF >> ${F}\nk: v\nEOF",
    "cat <<-END | tee d.txt > /dev/null\n\tx\n\tEND",
    "mkdir -p sub && cd sub",
    "export MODE=fast",
    "echo \"$PWD\" | sed 's/.*\\///' > pwd.txt",
    "for i in 1 2; do\n  echo $i >> loop.txt\ndone",
    "# a comment\nprintf '%s\\n' 'q  r' > e.txt",
    "tee f.txt > /dev/null <<< \"here\"",
    "if [ -e a.txt ]; then\n  touch seen\nfi",
    "[ -d sub ] || mkdir sub",
];

fn files(directory: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            let inner =
                files(&path).into_iter().map(|(file, text)| (format!("{name}/{file}"), text));
            found.extend(inner);
        } else {
            found.insert(name, std::fs::read_to_string(&path).unwrap());
        }
    }
    found
}

#[test]
fn typed_blocks_write_the_files_that_bash_writes() {
    let mut random = Random(7);
    let programs = tempfile::tempdir().unwrap();
    let measure = "printf '#!/bin/sh\\necho \"$MODE $@\"\\n' > measure; /bin/chmod +x measure";
    bash(measure, programs.path());
    let path = format!("PATH=/usr/bin:/bin:{}\n", programs.path().display());
    for _ in 0..300 {
        let count = 1 + random.below(4);
        let lines: Vec<&str> = (0..count).map(|_| random.pick(&LINES)).collect();
        let typed = format!("{}\nmeasure --n 1 > out.txt\n", lines.join("\n"));
        let [theirs, ours] = [0, 1].map(|_| tempfile::tempdir().unwrap());
        bash(&format!("{path}{typed}"), theirs.path());
        let block = format!("docker run -it debian:12 bash\n{typed}");
        let read =
            recipe_from_block(&block).unwrap_or_else(|problems| panic!("{block}: {problems}"));
        let (_, executed) = made(&script(&read.recipe, &[]));
        for step in &executed {
            bash(&format!("{path}{step}"), ours.path());
        }
        // Both run in a directory of another name.
        let [theirs, ours] = [&theirs, &ours].map(|directory| {
            let own = directory.path().file_name().unwrap().to_string_lossy().into_owned();
            let files = files(directory.path()).into_iter();
            files.map(|(name, text)| (name, text.replace(&own, "DIR"))).collect::<BTreeMap<_, _>>()
        });
        assert_eq!(ours, theirs, "{block}\n{}", read.recipe);
    }
}
