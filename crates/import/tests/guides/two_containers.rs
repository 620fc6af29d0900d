//! A server and its client in two containers.

use retrial_import::WrittenRecipe;

use super::{recipe_from_block, script};

const SERVER: &str =
    "docker run -d --name llm --gpus 2 -p 8080:8000 -v /m:/m img/server:1 vllm serve /m -tp 2\n";

fn read(client: &str) -> WrittenRecipe {
    let block = format!("{SERVER}{client}");
    let read = recipe_from_block(&block);
    read.unwrap_or_else(|problems| panic!("{block}: {problems}"))
}

#[test]
fn the_server_is_a_service_with_a_container_of_its_own() {
    let recipe =
        read("docker run --rm --network host -e A=1 img/client:2 bench --port 8080").recipe;
    for part in [
        "image: \"img/client:2\"\n",
        "    container:\n      image: \"img/server:1\"\n      mounts:\n        - \"/m:/m\"\n",
        "container:\n  network: host\n  gpu_access: as-written\n  env:\n    A: \"1\"\n",
        "    vendor: nvidia\n    count: 2\n",
        "http: \"http://localhost:8000/health\"",
        // The port of the host is none of the server's.
        "run: bench --port 8000\n",
        "needs:\n        - server\n",
    ] {
        assert!(recipe.contains(part), "{part}: {recipe}");
    }
    let plan = script(&recipe, &[]);
    assert!(plan.contains("img/server:1") && plan.contains("img/client:2"), "{plan}");
}

#[test]
fn the_client_finds_the_server_by_the_guides_name() {
    let named = "  add_host:\n    - \"llm:127.0.0.1\"\n";
    for (client, part) in [
        ("docker run --network n c bench --url http://llm:8000", named),
        ("docker run --link llm:api c bench --host api", "\"api:127.0.0.1\""),
        ("docker run --net=container:llm c bench --url localhost:8000", "localhost:8000"),
        (
            "docker run --add-host=host.docker.internal:host-gateway c bench http://host.docker.internal:8080",
            "run: \"bench http://localhost:8000\"",
        ),
    ] {
        let reading = read(client);
        assert!(reading.recipe.contains(part), "{client}: {}", reading.recipe);
        assert!(!reading.recipe.contains("network:"), "{}", reading.recipe);
        let notes = reading.notes.join("\n");
        let is_said = notes.contains("shares the network") || notes.contains("--add-host");
        assert!(is_said, "{client}: {notes}");
    }
}

#[test]
fn a_server_of_unknown_entrypoint_is_asked_for() {
    let block = "docker run -d --gpus all -p 8000:8000 nvcr.io/nim/a/b:1\ndocker run --net host c bench --url localhost:8000";
    let reading = recipe_from_block(block).unwrap();
    let asked = reading.incomplete.join("\n");
    assert!(asked.contains("services.server.run: the image's own entrypoint"), "{asked}");
    let on_host = block.replace("docker run --net host c bench", "vllm bench serve");
    let client = recipe_from_block(&on_host).unwrap().recipe;
    assert!(
        client.contains("run: \"vllm bench serve --url localhost:8000\"\n      needs:"),
        "{client}"
    );
    assert!(reading.recipe.contains("image: \"nvcr.io/nim/a/b:1\""), "{}", reading.recipe);
    assert!(reading.recipe.contains("run: \"bench --url localhost:8000\""), "{}", reading.recipe);
}

#[test]
fn a_further_server_is_a_service_with_a_container_of_its_own() {
    let one = "docker run -d --name a --gpus device=2 -p 8000:8000 img:1 vllm serve a\n";
    let other = "docker run -d --name b --gpus device=5 -p 8001:8000 img:2 vllm serve b\n";
    let block = format!("{one}{other}docker run --net host img:3 bench --url localhost:8001");
    let reading = recipe_from_block(&block).unwrap();
    for part in [
        "run: vllm serve a\n",
        // Both share a network: the port of the host is taken in it.
        "run: vllm serve b --port 8001\n",
        "localhost:8001/health",
        "        - server\n        - server-2\n",
        "image: \"img:2\"\n    env:\n      CUDA_VISIBLE_DEVICES: \"1\"\n",
        "    count: 2\n",
        "run: \"bench --url localhost:8001\"",
    ] {
        assert!(reading.recipe.contains(part), "{part}: {}", reading.recipe);
    }
    let plan = script(&reading.recipe, &[]);
    assert!(["img:1", "img:2", "img:3"].iter().all(|image| plan.contains(image)), "{plan}");
    let typed = "docker run -it img bash\nvllm serve a &\nvllm serve b --port 81 &\nbench";
    let recipe = recipe_from_block(typed).unwrap().recipe;
    assert!(recipe.contains("server-2:\n    run: vllm serve b --port 81\n"), "{recipe}");
}

#[test]
fn what_no_recipe_expresses_is_refused() {
    for (clients, message) in [
        ("docker exec llm warm\ndocker run c bench", "2 `docker run` commands"),
        ("docker run c bench\ndocker exec llm more", "in the server's container"),
        ("docker run c bench\ndocker run d more", "3 `docker run` commands"),
        ("docker run -d d vllm serve m", "a second server"),
        ("docker run -d -p 8000:8000 d vllm serve m", "two servers listen on port 8000"),
        ("docker exec -d llm vllm serve m", "a second server"),
    ] {
        let block = format!("{SERVER}{clients}");
        let problems = recipe_from_block(&block).unwrap_err();
        let is_said = problems.iter().any(|problem| problem.message.contains(message));
        assert!(is_said, "{block}: {problems}");
    }
}
