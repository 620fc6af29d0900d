//! The index follows the directories, whatever becomes of its file.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use rusqlite::Connection;

use super::*;
use retrial_store::lock::FileLock;
use retrial_store::process::ProcessIdentity;

/// A home whose runs are a journal and a title.
struct Scene {
    directory: tempfile::TempDir,
    home: Home,
}

/// The content of plan.json is the title.
fn read(run: &RunDirectory) -> RunSummary {
    let title = fs::read_to_string(run.join("plan.json")).unwrap_or_default();
    let over = fs::read_to_string(run.journal_path()).is_ok_and(|journal| journal.contains("over"));
    RunSummary {
        id: run.id().to_owned(),
        path: run.path().to_owned(),
        title,
        run_state: if over { RunState::Ended } else { RunState::Interrupted },
        ..RunSummary::default()
    }
}

impl Scene {
    fn new(runs: &[&str]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::from_root(directory.path().join("home"));
        let scene = Self { directory, home };
        for run in runs {
            scene.plant(run, "planted", "over");
        }
        scene
    }

    fn run(&self, id: &str) -> PathBuf {
        self.home.runs_directory().join(id)
    }

    /// A run whose files were written an hour ago.
    fn plant(&self, id: &str, title: &str, journal: &str) {
        let run = self.run(id);
        fs::create_dir_all(&run).unwrap();
        for (name, text) in [("journal.jsonl", journal), ("plan.json", title)] {
            fs::write(run.join(name), text).unwrap();
            let file = fs::File::options().write(true).open(run.join(name));
            let then = SystemTime::now() - Duration::from_hours(1);
            file.unwrap().set_modified(then).unwrap();
        }
    }

    fn open(&self) -> RunIndex {
        RunIndex::open(&self.home, read)
    }

    /// `id title` of each run, and the note.
    fn listing(&self) -> (Vec<String>, Option<String>) {
        let mut index = self.open();
        let rows = index.runs(&RunFilter::default());
        let rows = rows.iter().map(|row| format!("{} {}", row.id, row.title));
        (rows.collect(), index.storage_problem().map(str::to_owned))
    }

    fn file(&self) -> PathBuf {
        self.home.root().join("index.sqlite")
    }

    fn assert_listed(&self, runs: &[&str]) {
        assert_eq!(self.listing(), (runs.iter().map(|run| (*run).to_owned()).collect(), None));
    }
}

#[test]
fn only_new_and_changed_runs_are_read() {
    static READ: AtomicUsize = AtomicUsize::new(0);
    fn counted(run: &RunDirectory) -> RunSummary {
        READ.fetch_add(1, Ordering::SeqCst);
        read(run)
    }
    let scene = Scene::new(&["a", "b", "c"]);
    let titles = || -> Vec<String> {
        let rows = RunIndex::open(&scene.home, counted).runs(&RunFilter::default());
        rows.into_iter().map(|row| row.title).collect()
    };
    let since = || READ.swap(0, Ordering::SeqCst);
    assert_eq!(titles().len(), 3);
    assert_eq!(since(), 3);
    assert_eq!(titles().len(), 3);
    assert_eq!(since(), 0, "nothing changed");

    scene.plant("b", "another", "over");
    scene.plant("d", "new", "over");
    fs::remove_dir_all(scene.run("a")).unwrap();
    fs::rename(scene.run("c"), scene.directory.path().join("c")).unwrap();
    assert_eq!(titles(), ["another", "new"]);
    assert_eq!(since(), 2);
    fs::rename(scene.directory.path().join("c"), scene.run("moved")).unwrap();
    assert_eq!(titles(), ["another", "new", "planted"]);
    assert_eq!(since(), 1);
}

#[test]
fn recently_written_runs_are_read_again() {
    let scene = Scene::new(&["a"]);
    fs::write(scene.run("a").join("plan.json"), "one").unwrap();
    scene.assert_listed(&["a one"]);
    // As long as before, and perhaps in the same tick of the clock.
    fs::write(scene.run("a").join("plan.json"), "two").unwrap();
    scene.assert_listed(&["a two"]);
}

#[test]
fn other_files_are_not_listed() {
    let scene = Scene::new(&["a"]);
    fs::create_dir_all(scene.run("empty")).unwrap();
    fs::write(scene.run("file"), "").unwrap();
    scene.plant(".removing-b", "half of it", "over");
    scene.assert_listed(&["a planted"]);
}

#[test]
fn an_empty_home_is_not_created() {
    let scene = Scene::new(&[]);
    scene.assert_listed(&[]);
    assert!(!scene.home.root().exists());
}

#[test]
fn an_invalid_index_is_rebuilt() {
    let scene = Scene::new(&["a", "b"]);
    scene.assert_listed(&["a planted", "b planted"]);
    let whole = fs::read(scene.file()).unwrap();
    let mut torn = whole.clone();
    torn.truncate(whole.len() / 2);
    let mut scribbled = whole.clone();
    let from = whole.len() / 4;
    scribbled[from..].fill(0x5a);
    for bytes in [&b""[..], b"not a database", &vec![0; 100_000], &torn, &scribbled] {
        fs::write(scene.file(), bytes).unwrap();
        scene.assert_listed(&["a planted", "b planted"]);
        // And it was made well again.
        assert_eq!(
            Connection::open(scene.file())
                .unwrap()
                .query_row("SELECT count(*) FROM runs", [], |row| row.get::<_, i64>(0))
                .unwrap(),
            2
        );
    }
}

#[test]
fn a_truncated_index_is_rebuilt() {
    let scene = Scene::new(&["a", "b"]);
    scene.assert_listed(&["a planted", "b planted"]);
    let whole = fs::read(scene.file()).unwrap();
    for length in (0..whole.len()).step_by(997) {
        fs::write(scene.file(), &whole[..length]).unwrap();
        scene.assert_listed(&["a planted", "b planted"]);
    }
}

#[test]
fn an_older_index_is_rebuilt_and_a_newer_one_is_untouched() {
    let scene = Scene::new(&["a"]);
    scene.assert_listed(&["a planted"]);
    let version = |set: i32| {
        let connection = Connection::open(scene.file()).unwrap();
        connection.pragma_update(None, "user_version", set).unwrap();
    };
    let stored_version = || -> i32 {
        let connection = Connection::open(scene.file()).unwrap();
        connection.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap()
    };
    version(schema::SCHEMA_VERSION - 1);
    scene.plant("b", "new", "over");
    scene.assert_listed(&["a planted", "b new"]);
    assert_eq!(stored_version(), schema::SCHEMA_VERSION);
    version(schema::SCHEMA_VERSION + 1);
    let (rows, note) = scene.listing();
    assert_eq!(rows, ["a planted", "b new"]);
    assert!(note.unwrap().contains("newer version"));
    assert_eq!(stored_version(), schema::SCHEMA_VERSION + 1);
}

#[test]
fn a_foreign_database_is_replaced_and_a_directory_is_not() {
    let scene = Scene::new(&["a"]);
    let other = Connection::open(scene.file()).unwrap();
    other.execute_batch("CREATE TABLE runs (id TEXT)").unwrap();
    drop(other);
    scene.assert_listed(&["a planted"]);
    fs::remove_file(scene.file()).unwrap();
    fs::create_dir(scene.file()).unwrap();
    let (rows, note) = scene.listing();
    assert_eq!(rows, ["a planted"]);
    assert!(note.unwrap().contains("index.sqlite"));
}

#[test]
fn a_table_with_a_missing_column_is_rebuilt() {
    let scene = Scene::new(&["a"]);
    scene.assert_listed(&["a planted"]);
    let connection = Connection::open(scene.file()).unwrap();
    connection.execute_batch("ALTER TABLE runs DROP COLUMN summary").unwrap();
    drop(connection);
    scene.assert_listed(&["a planted"]);
}

#[test]
fn a_locked_index_is_bypassed() {
    let scene = Scene::new(&["a"]);
    scene.assert_listed(&["a planted"]);
    let other = Connection::open(scene.file()).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let (rows, note) = scene.listing();
    assert_eq!(rows, ["a planted"]);
    assert!(note.unwrap().contains("locked"));
    drop(other);
    scene.assert_listed(&["a planted"]);
}

#[test]
fn an_unwritable_index_is_read_and_completed_from_directories() {
    let scene = Scene::new(&["a"]);
    scene.assert_listed(&["a planted"]);
    scene.plant("b", "new", "over");
    // Writers cannot take turns.
    fs::remove_file(scene.home.root().join("index.lock")).unwrap();
    fs::create_dir(scene.home.root().join("index.lock")).unwrap();
    let (rows, note) = scene.listing();
    assert_eq!(rows, ["a planted", "b new"]);
    assert!(note.unwrap().contains("cannot be stored"));
}

#[test]
fn a_partial_index_of_a_killed_process_is_replaced() {
    let scene = Scene::new(&["a"]);
    fs::write(scene.home.root().join("index.sqlite.part"), "half").unwrap();
    fs::write(scene.home.root().join("index.sqlite-journal"), "of the old one").unwrap();
    scene.assert_listed(&["a planted"]);
    assert!(!scene.home.root().join("index.sqlite.part").exists());
}

#[test]
fn concurrent_processes_agree() {
    let ids: Vec<String> = (0..200).map(|number| format!("run-{number:03}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let scene = Scene::new(&ids);
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let scene = &scene;
            scope.spawn(move || {
                for round in 0..5 {
                    scene.plant(&format!("extra-{thread}"), &round.to_string(), "over");
                    if thread == 0 {
                        let _ = fs::remove_file(scene.file());
                    }
                    let (rows, note) = scene.listing();
                    assert_eq!(note, None);
                    assert!(rows.contains(&format!("extra-{thread} {round}")), "{rows:?}");
                }
            });
        }
    });
    assert_eq!(scene.listing().0.len(), 208);
}

#[test]
fn the_state_of_an_open_run_is_not_cached() {
    let scene = Scene::new(&["over"]);
    scene.plant("open", "going on", "");
    let states = || -> Vec<RunState> {
        let rows = scene.open().runs(&RunFilter::default());
        rows.into_iter().map(|row| row.run_state).collect()
    };
    assert_eq!(states(), [RunState::Interrupted, RunState::Ended]);
    let lock = FileLock::acquire(&scene.run("open").join("lock"), "open").unwrap();
    let own = ProcessIdentity::current().clone();
    assert_eq!(states(), [RunState::Running(own), RunState::Ended]);
    drop(lock);
    assert_eq!(states(), [RunState::Interrupted, RunState::Ended]);
}

#[test]
fn every_column_round_trips() {
    fn full(run: &RunDirectory) -> RunSummary {
        let text = include_str!("row.json").replace("/runs/ID", &run.path().display().to_string());
        let mut row: RunSummary = serde_json::from_str(&text.replace("ID", run.id())).unwrap();
        row.measured = Some("[1]".to_owned());
        row
    }
    let scene = Scene::new(&["a"]);
    let rows = RunIndex::open(&scene.home, full).runs(&RunFilter::default());
    assert_eq!(rows, [full(&RunDirectory::from_path(scene.run("a")))]);
    let count: i64 = Connection::open(scene.file())
        .unwrap()
        .query_row("SELECT count(*) FROM runs", [], |row| row.get(0))
        .unwrap();
    assert_eq!(count, 1);
}

/// A change of what is shown needs another version.
#[test]
fn the_version_is_that_of_the_tables_and_fields() {
    let row: RunSummary = serde_json::from_str(include_str!("row.json")).unwrap();
    let fields = serde_json::to_string_pretty(&row).unwrap();
    let (version, tables) = (schema::SCHEMA_VERSION, schema::TABLES);
    insta::assert_snapshot!(format!("version {version}\n{tables}\n{fields}"));
}
