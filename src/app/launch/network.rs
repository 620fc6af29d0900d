//! Tests whether this machine can reach the hosts that a recipe's commands connect to.

use std::time::Duration;

use futures_util::future::join_all;
use tokio::net::TcpStream;
use tokio::time::timeout;

use retrial_host::checks::{HostStatus, HostStatuses};

const HTTPS_PORT: u16 = 443;
/// How long a host may take to accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Connects to all hosts concurrently. With a proxy none is tested: the proxy decides which can be reached.
pub async fn probe_hosts(hosts: &[String]) -> HostStatuses {
    let proxy = ["https_proxy", "HTTPS_PROXY"].into_iter().find_map(|name| {
        let value = std::env::var(name).ok().filter(|value| !value.is_empty());
        value.map(|_| format!("not tested: connections go through the proxy of {name}"))
    });
    let probes = hosts.iter().map(|name| async {
        HostStatus {
            name: name.clone(),
            unknown: proxy.clone(),
            error: match proxy {
                None => connection_problem(name).await,
                Some(_) => None,
            },
        }
    });
    HostStatuses { hosts: join_all(probes).await, from_container: false }
}

/// Why a host does not accept connections; none if it does.
async fn connection_problem(name: &str) -> Option<String> {
    match timeout(CONNECT_TIMEOUT, TcpStream::connect((name, HTTPS_PORT))).await {
        Ok(Ok(_)) => None,
        Ok(Err(error)) => Some(error.to_string()),
        Err(_) => Some(format!("no connection within {} s", CONNECT_TIMEOUT.as_secs())),
    }
}
