//! Bad days to order.

use serde::Deserialize;

/// What goes wrong.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// The connection breaks after so many bytes of the body.
    Cut(u64),
    /// One bit is wrong in the byte at this offset of the file.
    Corrupt(u64),
    /// Content-Length has this value; the body is cut to it where it is less.
    Length(u64),
    /// So many bytes a second.
    Slow(u64),
    /// After so many bytes nothing comes until `Hub::release`.
    Stall(u64),
    /// The whole file with 200, though a range was requested.
    WholeFile,
    /// 416, though the requested range exists.
    NoRange,
    /// 200 and a page of HTML, as a portal or a proxy answers.
    Page,
    /// 429, to come back after so many seconds.
    Busy(u64),
    /// 503, to come back after so many seconds.
    Unavailable(u64),
    /// This status and a short text.
    Status(u16),
    /// The CDN's 403 for a signed link whose time is over.
    Expired,
    /// The connection breaks before an answer.
    Silence,
    /// A redirect to this location.
    Redirect(String),
    /// A page of a listing whose next one is at this address.
    NextPage(String),
}

/// Which kind of request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// `/api/models/{id}` and `/revision/{rev}`.
    Info,
    /// `/api/models/{id}/tree/…` and `paths-info`.
    Tree,
    /// HEAD of `/resolve/`.
    Head,
    /// GET of `/resolve/`, before it redirects.
    Resolve,
    /// The GET that a file's bytes come by, from the hub or the CDN.
    Bytes,
    /// GETs of the Xet store: which chunks a file is made of, and their bytes.
    Xet,
    /// Anything else.
    Other,
}

/// Which requests go wrong.
#[derive(Clone, Debug, Deserialize)]
pub struct At {
    pub place: Place,
    /// `owner/name`.
    pub repository: String,
    /// The file's path; none for any.
    #[serde(default)]
    pub file: Option<String>,
}

impl At {
    /// The GETs that bring this file's bytes.
    pub fn bytes(repository: &str, file: &str) -> Self {
        Self::file(Place::Bytes, repository, file)
    }

    /// Requests of a kind for this file.
    pub fn file(place: Place, repository: &str, file: &str) -> Self {
        Self { place, repository: repository.to_owned(), file: Some(file.to_owned()) }
    }

    /// Requests of a kind for anything of this repository.
    pub fn any(place: Place, repository: &str) -> Self {
        Self { place, repository: repository.to_owned(), file: None }
    }

    fn meets(&self, place: Place, repository: &str, file: Option<&str>) -> bool {
        let same_file = self.file.is_none() || self.file.as_deref() == file;
        self.place == place && self.repository == repository && same_file
    }
}

/// A fault that was ordered, and how often it still comes.
#[derive(Debug)]
pub struct Order {
    pub at: At,
    pub fault: Fault,
    pub times: u32,
}

/// The first order that meets this request; it counts as used.
pub fn take(
    orders: &mut Vec<Order>,
    place: Place,
    repository: &str,
    file: Option<&str>,
) -> Option<Fault> {
    let met = |order: &Order| order.at.meets(place, repository, file);
    let found = orders.iter().position(met)?;
    orders[found].times -= 1;
    if orders[found].times == 0 {
        return Some(orders.remove(found).fault);
    }
    Some(orders[found].fault.clone())
}
