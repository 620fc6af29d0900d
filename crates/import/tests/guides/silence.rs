//! Defaults of a guide's programs and effects of its shell are in the recipe, or are noted.

use retrial_import::WrittenRecipe;

use super::{made, recipe_from_block, script};

fn read(block: &str) -> WrittenRecipe {
    let read = recipe_from_block(block);
    read.unwrap_or_else(|problems| panic!("{block}: {problems}"))
}

#[test]
fn what_a_recipe_does_not_do_is_noted() {
    let typed = "docker run -it a bash\nvllm serve m &\n";
    for (block, note) in [
        (
            "apptainer exec docker://a b",
            "apptainer also gives its container: this directory, in which the command starts; $HOME; /tmp; the variables of the shell; the host's network",
        ),
        (
            "apptainer exec --no-home --cleanenv --no-mount tmp --pwd /w docker://a b",
            "apptainer also gives its container: this directory; the host's network",
        ),
        ("singularity run -c docker://a b", "singularity also gives its container: the variables"),
        ("srun -p batch --container-image a b", "srun --partition batch: dropped"),
        (
            "srun --container-image a b",
            "srun also gives its container: the variables of the shell; the host's network",
        ),
        ("podman run --tls-verify=false a b", "--tls-verify false: dropped"),
        ("podman run --group-add keep-groups a b", "--group-add keep-groups: dropped"),
        ("docker run a b --filter=*quick*", "`--filter=*quick*`: the pattern is as written"),
        (
            "docker run --name c a b\ndocker logs -f c",
            "`docker logs -f c`: dropped, Retrial follows",
        ),
        ("docker run --name c a b\ndocker wait c", "`docker wait c`: dropped, Retrial waits"),
        ("docker run --name c a b\ndocker cp c:/r .", "`results: DIRECTORY` in the measurement"),
        ("docker -H tcp://x run a b", "docker --host: dropped"),
        ("timeout -k 9 30m docker run a b", "`timeout -k 9 30m`: dropped"),
        ("numactl -m 0 docker run a b", "`numactl -m 0`: dropped"),
        ("ssh node docker run a b", "`ssh node`: dropped"),
        ("X=1 docker run a b", "`X=…` before the command: dropped"),
        ("X=1\ndocker run -e X a b", "the guide assigns X without `export`"),
        ("if [ -z $M ]; then M=x; fi\ndocker run a b $M", "asks for the value of M where"),
        ("M=y\n[ -n $N ] && M=x\ndocker run a b $M", "asks for the value of M where"),
        (&format!("{typed}sleep 60\nbench"), "`sleep 60`: dropped, a service is awaited"),
        (&format!("{typed}bench\nkill %1"), "`kill %1`: dropped, a service is awaited"),
    ] {
        let notes = read(block).notes.join("\n");
        assert!(notes.contains(note), "{block}: {notes}");
    }
}

#[test]
fn options_of_podman_that_docker_does_not_have_are_noted() {
    let notes = read("podman run --userns=keep-id:uid=0 -v /x:/x:ro,Z --mount type=bind,src=/y,dst=/y,relabel=shared a b").notes;
    for start in [
        "--userns keep-id:uid=0: dropped",
        "--volume /x:/x:ro,Z: dropped `Z`",
        "--mount type=bind,src=/y,dst=/y,relabel=shared: dropped `relabel=shared`",
    ] {
        assert!(notes.iter().any(|note| note.starts_with(start)), "{notes:?}");
    }
}

#[test]
fn what_the_shell_and_the_job_say_is_in_the_recipe() {
    let heredoc = "docker run -i a python3 - <<'E'\nprint(1)\nE";
    for (block, text) in [
        ("docker run -e C=~/x a b", "C: \"${{ params.home }}/x\""),
        ("M=1 docker run -e M a b", "M: \"${{ params.m }}\""),
        (
            "cat > f.env <<E\nA=1\nE\necho B=2 >> f.env\ndocker run --env-file f.env a b",
            "A: \"1\"\n    B: \"2\"",
        ),
        ("docker run -d a\ndocker exec --env-file f.env x b", "the file `f.env` (--env-file)"),
        ("docker start x || docker run a b", "run: b"),
        ("sudo -u ann X=1 docker run -e X a b", "X: \"${{ params.x }}\""),
        ("export NUM=1\nsrun --container-image a b", "NUM: \"1\""),
        ("export APPTAINERENV_NUM=1\napptainer exec docker://a b", "NUM: \"1\""),
        ("srun --export=ALL,NUM=1 --container-image a b", "NUM: \"1\""),
        ("apptainer pull x.sif docker://a:1\napptainer exec x.sif b", "image: \"a:1\""),
        (
            "enroot import docker://r#a/b:1\nsrun --container-image a+b+1.sqsh c",
            "image: \"r/a/b:1\"",
        ),
        ("srun -n8 --gpus-per-task=1 --container-image a b", "count: 8"),
        ("srun -n8 --container-image a b", "srun starts 8 processes"),
        ("#SBATCH --gres=gpu:4\ndocker run --gpus all a b", "count: 4"),
        ("salloc --gres=gpu:h100:2 srun --container-image a b", "count: 2"),
        ("srun --container-image nvcr.io/nvidia/a:1 b", "count: \"${{ params.gpus }}\""),
        (
            "docker create --name c a b\ndocker cp ./b c:/b\ndocker start -a c",
            "`docker cp ./b c:/b` copies it",
        ),
        (heredoc, "python3 - <<'END_OF_INPUT'\n        print(1)\n        END_OF_INPUT\n"),
        (
            "docker run -d --name c a\ndocker exec -i c bash <<E\nbench \\$HOME $PWD\nE",
            "bench $HOME ${{ params.pwd }}",
        ),
        ("docker run -i a bash <<< 'x && y'", "run: \"x && y\\n\""),
        ("docker run a b\ndocker run a c", "step-1:\n    run: b"),
    ] {
        let recipe = read(block).recipe;
        assert!(recipe.contains(text), "{block}: {recipe}");
    }
    // A here-document that is typed ends as it was written.
    let typed = "docker run -it a bash\ncat > x.json <<'EOF'\n{}\nEOF\nbench x.json";
    let (_, executed) = made(&script(&read(typed).recipe, &[]));
    assert_eq!(executed, ["cat > x.json <<'EOF'\n{}\nEOF\n", "bench x.json"]);
}

#[test]
fn images_and_commands_of_other_tools_are_read() {
    for (block, text) in [
        (
            "docker run -d --name c a\ndocker cp w/b.py c:/x/\ndocker exec c b",
            "- \"./w/b.py:/x/b.py:ro\"",
        ),
        (
            "enroot import -o f.sqsh docker://r#a/b:1\nenroot create -n c f.sqsh\nenroot start --rw -m /d:/d -e A=1 c bench",
            "image: \"r/a/b:1\"\n\ncontainer:\n  env:\n    A: \"1\"\n  mounts:\n    - \"/d:/d\"\n",
        ),
        (
            "C=r#a/b:1\nM=/a:/b,/c\nsrun -N1 --container-image=$C --container-mounts=$M b",
            "mounts:\n    - \"/a:/b\"\n    - \"/c:/c\"\n",
        ),
        ("C=$(docker run -d a sleep inf)\ndocker exec $C bench", "run: bench\n"),
        ("docker run --cpus 2 `# two` a b", "cpus: 2\n"),
        ("docker run -v /path/to/model:/m a b", "- \"${{ params.path_to_model }}:/m\""),
        ("docker run -v /srv/yours:/m a b", "- \"/srv/yours:/m\""),
        ("# docker run a:1 x\ndocker run a:2 y", "image: \"a:2\""),
        (
            "docker run a bash -c 'vllm serve m & sleep 9; vllm bench serve'",
            "run: \"bash -c 'vllm serve m & sleep 9; vllm bench serve'\"\n      figures:",
        ),
        (
            "docker run -d --device /dev/kfd --device /dev/dri/renderD128 a vllm serve m\ndocker run -d --device /dev/kfd --device /dev/dri/renderD136 a vllm serve n --port 81\nvllm bench serve",
            "count: 2",
        ),
        ("docker run -it --gpus all a bash\nexport CUDA_VISIBLE_DEVICES=0,1\nbench", "count: 2"),
        ("ssh -p 22 gpu1 'docker run --cpus 2 a b'", "cpus: 2\n"),
        ("sudo bash -c \"cd /w && docker run -v ./d:/d a b\"", "- \"/w/d:/d\""),
        (
            "docker run -it --name c -m 4g a bash\npip install x\nexit\ndocker commit c mine:1\ndocker run --cpus 2 mine:1 bench",
            "image: a\n\ncontainer:\n  memory: \"4g\"\n  cpus: 2\n\nsetup:\n  step-1:\n    run: pip install x\n",
        ),
        (
            "docker run -d -p 80:80 a vllm serve m\nfor i in 1 2; do\n  curl 'a  b'\ndone",
            "        for i in 1 2;\n        do\n            curl 'a  b'\n        done",
        ),
    ] {
        let recipe = read(block).recipe;
        assert!(recipe.contains(text), "{block}: {recipe}");
    }
}

/// A service runs for measurements only, so its clients are measurements.
#[test]
fn commands_behind_a_server_are_one_measurement() {
    let server = "docker run -d --name s a vllm serve m\ndocker exec s warm\n";
    let joined = read(&format!("{server}docker exec s bench")).recipe;
    assert!(joined.contains("warm &&\n        bench\n"), "{joined}");
    assert!(!joined.contains("setup:"), "{joined}");
    let differing = read(&format!("{server}docker exec -w '/a b' -e N=1 s bench")).recipe;
    let measured = "(\n        cd '/a b'\n        export N=1\n        bench\n        )\n";
    assert!(differing.contains("set -e"), "{differing}");
    assert!(
        differing.contains(measured)
            || differing
                .contains("(\n        export N=1\n        cd '/a b'\n        bench\n        )\n"),
        "{differing}"
    );
}

#[test]
fn problems_around_an_error_of_syntax_are_found() {
    let block = "docker run --gpu all a b (fast)\ndocker run --link x a b (slow)\ndocker run a 'b";
    let problems = recipe_from_block(block).unwrap_err();
    let places: Vec<String> = problems.iter().map(|problem| problem.message.clone()).collect();
    for message in ["docker run has no --gpu", "shell syntax error"] {
        assert!(places.iter().any(|own| own == message), "{places:?}");
    }
    assert!(places.iter().any(|own| own == "unterminated quote"), "{places:?}");
}
