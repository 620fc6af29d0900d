//! Files from the hub's Xet store: chunks by their hashes, several at a time, put together in order.
//!
//! Nothing is verified here, and nothing depends on it: after the first failure a snapshot's files
//! come over plain HTTP, which the hub serves for every file.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use tokio::sync::OnceCell;
use tracing::instrument;
use xet::XetError;
use xet::xet_session::{
    XetConfig, XetDownloadStream, XetDownloadStreamGroup, XetFileInfo, XetSessionBuilder,
};

use crate::classify::RequestFailure;
use crate::settings::HubSettings;
use crate::tree::RemoteFile;

/// The Xet store of one snapshot.
pub struct XetStore {
    config: XetConfig,
    token_url: String,
    headers: HeaderMap,
    group: OnceCell<XetDownloadStreamGroup>,
    is_disabled: AtomicBool,
}

impl XetStore {
    /// Returns the store that the hub names at `token_url`, requested with the hub's own token.
    pub fn new(settings: &HubSettings, token_url: String, token: Option<HeaderValue>) -> Self {
        let mut config = XetConfig::new();
        // By default the client reports every transfer to the store.
        config.telemetry.enabled = false;
        config.client.read_timeout = settings.read_timeout;
        config.client.retry_base_delay = settings.retry_delay;
        // Plain HTTP is there to fall back to.
        config.client.retry_max_attempts = 2;
        Self {
            config,
            token_url,
            headers: token.map(|token| (AUTHORIZATION, token)).into_iter().collect(),
            group: OnceCell::new(),
            is_disabled: AtomicBool::new(!settings.xet),
        }
    }

    /// Returns whether the file is to be read from here.
    pub fn serves(&self, file: &RemoteFile) -> bool {
        file.xet_hash.is_some() && !self.is_disabled.load(Ordering::Relaxed)
    }

    /// Opens a part of a file.
    ///
    /// # Errors
    /// If the hub issues no token for the store, or the store refuses.
    #[instrument(level = "debug", skip_all, fields(hash = file.xet_hash, ?range))]
    pub async fn open_stream(
        &self,
        file: &RemoteFile,
        range: Range<u64>,
    ) -> Result<XetDownloadStream, RequestFailure> {
        let connected = self.group.get_or_try_init(|| self.connect_group()).await;
        let group = connected.map_err(|error| RequestFailure::from_xet(&error))?;
        let hash = file.xet_hash.clone().unwrap_or_default();
        let info = XetFileInfo::new(hash, file.size);
        let stream = group.download_stream(info, Some(range)).await;
        tracing::debug!(opened = stream.is_ok(), "answer of the Xet store");
        stream.map_err(|error| RequestFailure::from_xet(&error))
    }

    async fn connect_group(&self) -> Result<XetDownloadStreamGroup, XetError> {
        XetSessionBuilder::new_with_config(self.config.clone())
            .build()?
            .new_download_stream_group()?
            .with_token_refresh_url(self.token_url.clone(), self.headers.clone())
            .build()
            .await
    }

    /// Uses the store no more; true for the first failure.
    pub fn disable(&self) -> bool {
        !self.is_disabled.swap(true, Ordering::Relaxed)
    }
}
