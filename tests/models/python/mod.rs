//! The tests' hub under the Python client: where the real client is content, the hub is faithful
//! enough for ours.
#![expect(clippy::unwrap_used, reason = "tests")]

mod client;
mod run;

use crate::hub::{Access, At, Content, Fault, Hub, Place, Repository};
use client::{Client, good};
use sha2::Digest as _;

fn tiny() -> Repository {
    Repository::new("amd/tiny")
        .file("config.json", "{\"model_type\": \"llama\"}\n")
        .file("empty", "")
        .file("sub/folder/öl und wasser.txt", "beside\n")
        .lfs("model.safetensors", Content::generated(1, 3_000_000))
        .lfs("sub/other.bin", Content::generated(2, 70_000))
}

#[test]
#[ignore = "needs the lab"]
fn hf_downloads_a_model_once_and_then_works_offline() {
    let hub = Hub::start();
    let client = Client::new(&hub);
    let commit = hub.add(tiny());
    let path = good(&client.hf(&[], &["download", "amd/tiny"]));
    assert!(path.contains(&commit), "{path}");
    for (file, content) in [
        ("model.safetensors", Content::generated(1, 3_000_000).to_vec()),
        ("sub/other.bin", Content::generated(2, 70_000).to_vec()),
        ("sub/folder/öl und wasser.txt", b"beside\n".to_vec()),
        ("empty", Vec::new()),
    ] {
        assert!(client.cached("amd/tiny", &commit, file) == content, "{file}");
        // The client does not download an empty file.
        let expected = usize::from(!content.is_empty());
        assert_eq!(hub.downloads("amd/tiny", file), expected, "{file}");
    }
    // The blobs are named as ours are.
    let blobs = client.home.path().join("hub/models--amd--tiny/blobs");
    assert!(blobs.join(Content::generated(1, 3_000_000).sha256()).exists());
    assert!(blobs.join(Content::from("").git_id()).exists());
    hub.forget();
    good(&client.hf(&[], &["download", "amd/tiny"]));
    assert_eq!(hub.sent("amd/tiny", "model.safetensors"), 0, "fetched twice");
    hub.forget();
    good(&client.hf(&[("HF_HUB_OFFLINE", "1")], &["download", "amd/tiny"]));
    assert_eq!(hub.requests().len(), 0);
}

#[test]
#[ignore = "needs the lab"]
fn a_token_is_sent_to_the_hub_and_never_to_the_cdn() {
    let hub = Hub::start();
    let client = Client::new(&hub);
    hub.account("alice", "hf_alice");
    hub.add(tiny());
    good(&client.hf(&[("HF_TOKEN", "hf_alice")], &["download", "amd/tiny"]));
    // The program also asks for what is no model's.
    let mut requests = hub.requests();
    requests.retain(|request| request.repository == "amd/tiny");
    let (cdn, rest): (Vec<_>, Vec<_>) =
        requests.iter().partition(|request| request.path.contains("Signature="));
    assert_eq!(cdn.len(), 2);
    assert!(cdn.iter().all(|request| !request.authorized && request.status == 200));
    for request in rest {
        assert!(request.authorized, "{request:?}");
    }
    // What would happen to one that is sent: the real CDN says 400, too.
    let with_token = client.script(
        &[],
        &format!("import httpx2\nprint(httpx2.get('{}{}', headers={{'authorization': 'Bearer x'}}).status_code)", hub.cdn(), cdn[0].path),
    );
    assert_eq!(with_token.trim(), "400");
}

#[test]
#[ignore = "needs the lab"]
fn missing_and_forbidden_errors_match_the_real_hub() {
    let hub = Hub::start();
    let client = Client::new(&hub);
    hub.account("alice", "hf_alice");
    hub.account("bob", "hf_bob");
    hub.add(tiny());
    let alice = vec!["alice".to_owned()];
    hub.add(
        Repository::new("meta/gated")
            .file("config.json", "{}")
            .lfs("w.bin", Content::generated(3, 10))
            .access(Access::Gated(alice.clone())),
    );
    hub.add(
        Repository::new("meta/hidden").file("config.json", "{}").access(Access::Private(alice)),
    );
    client.script(&[], "
refused(RepositoryNotFoundError, lambda: snapshot_download('no/such'))
refused(RepositoryNotFoundError, lambda: snapshot_download('meta/hidden'))
refused(RevisionNotFoundError, lambda: snapshot_download('amd/tiny', revision='nosuch'))
refused(RemoteEntryNotFoundError, lambda: hf_hub_download('amd/tiny', 'nosuch'))
said = refused(GatedRepoError, lambda: snapshot_download('meta/gated'))
assert '401' in said and 'Please log in' in said, said
said = refused(GatedRepoError, lambda: snapshot_download('meta/gated', token='hf_bob'))
assert '403' in said and 'not in the authorized list' in said and '/meta/gated to ask for access' in said, said
said = refused(HfHubHTTPError, lambda: snapshot_download('amd/tiny', token='hf_wrong'))
assert 'Invalid credentials' in said, said
snapshot_download('meta/gated', token='hf_alice')
snapshot_download('meta/hidden', token='hf_alice')
assert model_info('meta/gated').gated == 'manual'
assert whoami(token='hf_alice')['name'] == 'alice'
refused(RepositoryNotFoundError, lambda: model_info('no/such', token='hf_alice'))
");
    client.script(
        &[("HF_HUB_OFFLINE", "1")],
        "refused(LocalEntryNotFoundError, lambda: snapshot_download('amd/tiny'))",
    );
}

#[test]
#[ignore = "needs the lab"]
fn trees_revisions_refs_and_renames() {
    let hub = Hub::start();
    let client = Client::new(&hub);
    let first = hub.add(tiny().tag("v1.0"));
    let second = hub.add(tiny().file("config.json", "{}"));
    hub.add(tiny().file("extra", "x").branch("pr/1"));
    hub.page(2);
    let digest = Content::generated(1, 3_000_000).sha256().to_owned();
    let text = format!("
first, second, digest = '{first}', '{second}', '{digest}'
api = HfApi()
assert api.model_info('amd/tiny').sha == second
assert api.model_info('amd/tiny', revision='v1.0').sha == first
assert api.model_info('amd/tiny', revision=first[:10]).sha == first
files = {{f.path: f for f in api.list_repo_tree('amd/tiny', recursive=True) if isinstance(f, RepoFile)}}
folders = [f.path for f in api.list_repo_tree('amd/tiny', recursive=True) if isinstance(f, RepoFolder)]
assert sorted(files) == ['config.json', 'empty', 'model.safetensors', 'sub/folder/öl und wasser.txt', 'sub/other.bin'], files
assert sorted(folders) == ['sub', 'sub/folder'], folders
assert files['model.safetensors'].lfs.sha256 == digest
assert files['model.safetensors'].size == 3000000
assert [f.path for f in api.list_repo_tree('amd/tiny', 'sub')] == ['sub/folder', 'sub/other.bin']
assert next(api.list_repo_tree('amd/tiny', expand=True)).last_commit.oid == second
info = api.model_info('amd/tiny', files_metadata=True)
assert {{s.rfilename: s.size for s in info.siblings}}['sub/other.bin'] == 70000
assert api.get_paths_info('amd/tiny', ['sub', 'config.json', 'nosuch'])[1].size == 2
refs = api.list_repo_refs('amd/tiny')
assert sorted(b.name for b in refs.branches) == ['main', 'pr/1'] and refs.tags[0].target_commit == first
assert api.file_exists('amd/tiny', 'extra', revision='pr/1') and not api.file_exists('amd/tiny', 'extra')
assert open(hf_hub_download('amd/tiny', 'config.json', revision='v1.0')).read() != '{{}}'
path = snapshot_download('amd/tiny', revision='v1.0', allow_patterns='*.json')
import os
assert os.listdir(path) == ['config.json'], os.listdir(path)
");
    client.script(&[], &text);
    hub.rename("amd/tiny", "amd/renamed");
    client.script(
        &[],
        "
assert model_info('amd/tiny').id == 'amd/renamed'
hf_hub_download('amd/tiny', 'model.safetensors')
hf_hub_download('amd/tiny', 'sub/folder/öl und wasser.txt')
",
    );
}

#[test]
#[ignore = "needs the lab"]
fn the_client_survives_faults_of_the_real_hub() {
    let hub = Hub::start();
    let client = Client::new(&hub);
    let commit = hub.add(tiny().lfs("model.safetensors", Content::generated(4, 25_000_000)));
    // The client reads by 10 MB, and retains complete blocks.
    let model = At::bytes("amd/tiny", "model.safetensors");
    hub.fault(Fault::Cut(21_000_000), &model, 1);
    hub.fault(Fault::Busy(1), &At::any(Place::Tree, "amd/tiny"), 1);
    good(&client.hf(&[], &["download", "amd/tiny"]));
    assert_eq!(hub.faults_left(), 0);
    assert_eq!(hub.downloads("amd/tiny", "model.safetensors"), 2);
    let ranges: Vec<_> =
        hub.requests().iter().filter_map(|request| request.range.clone()).collect();
    // Of what was read last it may have lost one piece: that is up to the connection's end.
    let from = ["bytes=10485760-", "bytes=20971520-"];
    assert!(ranges.len() == 1 && from.contains(&ranges[0].as_str()), "{ranges:?}");
    let bytes = client.cached("amd/tiny", &commit, "model.safetensors");
    assert_eq!(
        crate::hub::hex(&sha2::Sha256::digest(&bytes)),
        Content::generated(4, 25_000_000).sha256()
    );
}

#[test]
#[ignore = "needs the lab"]
fn injected_faults_have_their_effect() {
    let hub = Hub::start();
    let client = Client::new(&hub);
    hub.add(tiny());
    // What the client does not check: ours has to.
    hub.fault(Fault::Corrupt(5), &At::bytes("amd/tiny", "sub/other.bin"), 1);
    let path = client.script(&[], "print(hf_hub_download('amd/tiny', 'sub/other.bin'))");
    let bytes = std::fs::read(path.trim()).unwrap();
    let content = Content::generated(2, 70_000).to_vec();
    let wrong: Vec<usize> = (0..content.len()).filter(|&at| bytes[at] != content[at]).collect();
    assert_eq!(wrong, [5]);

    let model = At::bytes("amd/tiny", "model.safetensors");
    let fetch = "lambda: hf_hub_download('amd/tiny', 'model.safetensors')";
    hub.fault(Fault::Length(1000), &model, 1);
    client.script(&[], &format!("assert 'Consistency check failed' in refused(OSError, {fetch})"));
    hub.fault(Fault::Page, &model, 1);
    client.script(&[], &format!("assert 'Consistency check failed' in refused(OSError, {fetch})"));
    hub.fault(Fault::Expired, &model, 1);
    client.script(&[], &format!("assert '403' in refused(HfHubHTTPError, {fetch})"));
    hub.fault(Fault::Status(403), &At::file(Place::Head, "amd/tiny", "model.safetensors"), 1);
    client.script(&[], &format!("refused(LocalEntryNotFoundError, {fetch})"));
    hub.fault(Fault::Cut(10), &model, 1);
    hub.fault(Fault::WholeFile, &model, 1);
    client.script(&[], "hf_hub_download('amd/tiny', 'model.safetensors')");
    assert_eq!(hub.faults_left(), 0);
}
