//! The tags of a repository, from registries of this machine.
#![allow(clippy::unwrap_used, reason = "tests")]

use retrial_container::ImageRef;
use retrial_engine::tags::list_tags;
use serde_json::json;
use wiremock::matchers::{header, method, path, query_param, query_param_is_missing};
use wiremock::{Mock, MockServer, ResponseTemplate};

use crate::support::remedy::with_remedy;

const PATH: &str = "/v2/team/image/tags/list";

fn repository(server: &MockServer) -> ImageRef {
    ImageRef::parse(&format!("{}/team/image", server.address())).unwrap()
}

fn page(tags: &[&str]) -> ResponseTemplate {
    ResponseTemplate::new(200).set_body_json(json!({ "name": "team/image", "tags": tags }))
}

#[tokio::test]
async fn all_pages_are_read_with_a_token() {
    let server = MockServer::start().await;
    let challenge = format!(
        "Bearer realm=\"{}/token\",service=\"the registry\",scope=\"repository:other:pull\"",
        server.uri()
    );
    let refused = ResponseTemplate::new(401).insert_header("WWW-Authenticate", challenge.as_str());
    let token = ResponseTemplate::new(200).set_body_json(json!({ "token": "t" }));
    Mock::given(path("/token"))
        .and(query_param("service", "the registry"))
        .and(query_param("scope", "repository:team/image:pull"))
        .respond_with(token)
        .expect(1)
        .mount(&server)
        .await;
    let link = format!("<{PATH}?last=2&n=2>; rel=\"next\"");
    for (is_first, answer) in
        [(true, page(&["1", "2"]).insert_header("Link", link.as_str())), (false, page(&["3"]))]
    {
        let with_token =
            Mock::given(method("GET")).and(path(PATH)).and(header("Authorization", "Bearer t"));
        let of_page = if is_first {
            with_token.and(query_param_is_missing("last"))
        } else {
            with_token.and(query_param("last", "2"))
        };
        of_page.respond_with(answer).expect(1).mount(&server).await;
    }
    Mock::given(path(PATH)).respond_with(refused).with_priority(9).mount(&server).await;
    assert_eq!(list_tags(&repository(&server)).await.unwrap(), ["1", "2", "3"]);
}

#[tokio::test]
async fn a_refusal_says_what_to_do() {
    for (status, expected) in [(404, "check its name"), (403, "docker login"), (500, "says 500")] {
        let server = MockServer::start().await;
        Mock::given(path(PATH)).respond_with(ResponseTemplate::new(status)).mount(&server).await;
        let error = list_tags(&repository(&server)).await.unwrap_err();
        let text = with_remedy(&error);
        assert!(text.contains(expected), "{text}");
        assert!(text.contains("/team/image could not be listed"), "{text}");
    }
}
