# What MAD's script measured, from its log: a line a figure, named by task and precision. MAD prints them below
# 'Running: TASK - MODEL - PRECISION - LENGTH', and some of them twice; the last counts. torchtune's progress bar comes as
# one line with carriage returns: '1|5|Loss: 1.889…: 25%|…'.
BEGIN { RS = "[\r\n]+" }
match($0, /Running: [a-z_]+ - [^ ]+ - (BF16|FP8)/) {
    split(substr($0, RSTART, RLENGTH), word, " ")
    task = word[2] " " word[6]
    if (!(task in known)) { known[task] = 1; order[++tasks] = task }
}
task != "" && match($0, /Average tokens\/s\/gpu \(last half\): *[0-9.]+/) { speed[task] = last_word($0) }
task != "" && match($0, /Max memory alloc \(last half\): *[0-9.]+/) { memory[task] = last_word($0) }
task != "" && match($0, /1\|[0-9]+\|Loss: *[0-9.]+/) {
    split(substr($0, RSTART, RLENGTH), part, "|")
    sub(/Loss: */, "", part[3])
    if (!((task, part[2]) in loss)) { steps[task] = steps[task] " " part[2] }
    loss[task, part[2]] = part[3]
}
END {
    for (number = 1; number <= tasks; number++) {
        task = order[number]
        if (task in speed) {
            printf "%s: %s tokens/s a GPU\n", task, speed[task]
            printf "%s: %s tokens/s in all\n", task, speed[task] * 8
        }
        if (task in memory) printf "%s: %s GB\n", task, memory[task]
        count = split(steps[task], step, " ")
        for (at = 1; at <= count; at++) printf "loss of %s: %s after %s steps\n", task, loss[task, step[at]], step[at]
    }
    if (!tasks) { print "no task of MAD's in this log" > "/dev/stderr"; exit 1 }
}
function last_word(line,   word) {
    split(substr(line, RSTART, RLENGTH), word, ": *")
    return word[2]
}
