//! The downloads of a recipe, shown before they begin.

use retrial_document::{ByteUnits, FieldType as T, object};
use serde::{Deserialize, Serialize};

use crate::formats;

object! {
    /// Data that a model, a dataset or a command downloads.
    #[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct Download: "a download";
    keys {
        /// The source and the program: `MLCommons' storage, by mlcr and rclone`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<String> = T::Text(formats::LINE),
        /// The size, bytes: 36 GiB.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        size: Option<u64> = T::Size(ByteUnits::Precise),
        /// Who states the size, and when: `the guide, 2026-04`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        size_by: Option<String> = T::Text(formats::LINE),
        /// The licence of the data.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        licence: Option<String> = T::Text(formats::LINE),
        /// The page on which the user has to accept the terms before the download.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        terms: Option<String> = T::Text(formats::LINE),
        /// Expected files, each with its published size or checksum: `perf_eval_ref.parquet: MD5 e4cd…`.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        files: Vec<String> = T::List(&T::Text(formats::LINE), 1),
        /// Hosts that it connects to by HTTPS.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        hosts: Vec<String> = T::List(&T::Text(formats::HOST_NAME), 1),
    }
}
