//! The proxies of Docker's config.json. `docker run` and `docker build` pass them to the processes that they
//! start, so a benchmark that downloads works behind a company's proxy; so do we.

use std::path::Path;

use super::configuration::ConfigFile;
use super::error::EngineError;

/// Docker's key of each proxy, and its variable.
const PROXY_VARIABLES: [(&str, &str); 5] = [
    ("httpProxy", "HTTP_PROXY"),
    ("httpsProxy", "HTTPS_PROXY"),
    ("noProxy", "NO_PROXY"),
    ("ftpProxy", "FTP_PROXY"),
    ("allProxy", "ALL_PROXY"),
];

/// Names (upper case) and values for the engine at `url`: its own entry, else `default`.
///
/// # Errors
/// config.json is not the JSON that Docker writes.
pub fn read_proxies(configuration: &Path, url: &str) -> Result<Vec<(String, String)>, EngineError> {
    let proxies = match ConfigFile::read(configuration) {
        Ok(file) => file.proxies,
        // Another user's file (`sudo -u` with HOME unchanged): Docker's command line ignores it, too.
        Err(EngineError::File { .. }) => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let Some(proxies) = proxies.get(url).or_else(|| proxies.get("default")) else {
        return Ok(Vec::new());
    };
    let set = PROXY_VARIABLES.iter().filter_map(|(key, name)| {
        let value = proxies.get(key)?.as_str()?;
        (!value.is_empty()).then(|| ((*name).to_owned(), value.to_owned()))
    });
    Ok(set.collect())
}

/// Returns the variables to add to those that are set: both spellings of each proxy, unless that
/// spelling is set. Docker's rule.
pub fn missing_variables(proxies: &[(String, String)], set: &[&str]) -> Vec<(String, String)> {
    let spellings = proxies
        .iter()
        .flat_map(|(name, value)| [(name.clone(), value), (name.to_lowercase(), value)]);
    spellings
        .filter(|(name, _)| !set.contains(&name.as_str()))
        .map(|(name, value)| (name, value.clone()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proxies_can_be_set_per_engine() {
        let directory = tempfile::tempdir().unwrap();
        let read = |url| read_proxies(directory.path(), url).unwrap();
        assert!(read("unix:///x").is_empty());
        let text = r#"{"auths": {}, "proxies": {
            "default": {"httpProxy": "http://proxy:1", "noProxy": "localhost"},
            "tcp://far:2375": {"allProxy": "socks5://far:2"}}}"#;
        std::fs::write(directory.path().join("config.json"), text).unwrap();
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            read("unix:///x"),
            [pair("HTTP_PROXY", "http://proxy:1"), pair("NO_PROXY", "localhost")]
        );
        assert_eq!(read("tcp://far:2375"), [pair("ALL_PROXY", "socks5://far:2")]);
    }

    #[test]
    fn variables_already_set_are_not_overwritten() {
        let proxies = [("HTTP_PROXY".to_owned(), "http://proxy:1".to_owned())];
        assert_eq!(missing_variables(&proxies, &["HTTP_PROXY", "http_proxy"]), []);
        let lower = missing_variables(&proxies, &["HTTP_PROXY"]);
        assert_eq!(lower, [("http_proxy".into(), "http://proxy:1".into())]);
        assert_eq!(missing_variables(&proxies, &[]).len(), 2);
    }
}
