//! The fake itself.

use super::*;
use retrial_engine::Engine;

#[tokio::test]
async fn a_flow_runs_and_a_fault_is_injected_once() {
    let control = tempfile::tempdir().unwrap();
    let error = EngineError::Disconnected { operation: "exec".into(), reason: "test".into() };
    let fake = Fake::new()
        .on_exec(|_, control| {
            std::fs::write(control.join("exit"), "0").unwrap();
            ExecStatus::Exited(0)
        })
        .fail_nth("exec_detached", 2, error);
    let spec = ContainerSpec {
        name: "one".into(),
        labels: BTreeMap::from([("run".into(), "7".into())]),
        control: Some(control.path().to_str().unwrap().into()),
        ..ContainerSpec::default()
    };
    let id = fake.create_container(&spec).await.unwrap();
    fake.start_container(&id).await.unwrap();
    assert_eq!(fake.list_containers("run=7").await.unwrap().len(), 1);
    assert_eq!(fake.list_containers("run=8").await.unwrap().len(), 0);

    let exec = fake.exec_detached("one", &ExecSpec::default()).await.unwrap();
    assert!(control.path().join("exit").exists());
    assert_eq!(fake.query_exec_status(&exec).await.unwrap(), ExecStatus::Exited(0));
    let fault = fake.exec_detached("one", &ExecSpec::default()).await;
    assert!(fault.unwrap_err().is_unavailable());
    fake.exec_detached("one", &ExecSpec::default()).await.unwrap();

    fake.forgets_processes();
    assert_eq!(fake.query_exec_status(&exec).await.unwrap(), ExecStatus::Unknown);
    fake.remove_container("one").await.unwrap();
    assert!(fake.inspect_container(&id).await.unwrap().is_none());
    assert!(fake.exec_detached("one", &ExecSpec::default()).await.is_err());
    assert!(fake.calls().contains(&"create one".to_owned()));
}
