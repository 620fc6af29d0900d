# The head and the workers of several machines find each other, as those of AMD's harness do: a worker connects again
# until the head is there and registers each GPU by its name; the head waits for all of them, for ever if one is
# missing, and for ever if one is gone that it had given queries; workers leave when the head says so.
#
#   perl zmq.pl head PORT GPUS COMMAND...      runs the command when all have registered
#   perl zmq.pl worker NODE ADDRESS:PORT GPUS
use strict;
use warnings;
use IO::Select;
use IO::Socket::INET;
$| = 1;

my $role = shift;
$role eq 'head' ? head(@ARGV) : worker(@ARGV);

sub head {
    my ($port, $gpus, @command) = @_;
    my $options = { Listen => 1024, ReuseAddr => 1 };
    my $sender = IO::Socket::INET->new(LocalPort => $port, %$options) or die "cannot bind tcp://*:$port: $@\n";
    my $receiver = IO::Socket::INET->new(LocalPort => $port + 1, %$options) or die 'cannot bind tcp://*:' . ($port + 1) . ": $@\n";
    my %workers;
    while (keys %workers < $gpus) {
        my $worker = $receiver->accept or next;
        chomp(my $name = <$worker> // next);
        printf "INFO %d/%d Got new server with data=%s\n", scalar keys %workers, $gpus, $name;
        $workers{$name} = $worker;
    }
    print {$_} "ack\n" for values %workers;
    printf "INFO Server started with %d workers\n", scalar keys %workers;
    my $failed = system @command;
    # Nothing comes from a worker but its end.
    sleep 1 while IO::Select->new(values %workers)->can_read(0);
    print {$_} "end\n" for values %workers;
    exit $failed >> 8;
}

sub worker {
    my ($node, $address, $gpus) = @_;
    my ($host, $port) = $address =~ /^(.*):(\d+)$/;
    my %heads;
    for my $gpu (0 .. $gpus - 1) {
        my $name = "$node-gpu$gpu";
        print "INFO Server b'$name' - Started warmup\nINFO Server b'$name' - Warmup completed\n";
        my $head;
        select undef, undef, undef, 0.1 until $head = IO::Socket::INET->new(PeerAddr => $host, PeerPort => $port + 1);
        print $head "$name\n";
        $heads{$name} = $head;
    }
    for my $name (sort keys %heads) {
        my $head = $heads{$name};
        while (my $line = <$head>) {
            if ($line eq "ack\n") { print "INFO Server b'$name' - Processing started...\n"; next }
            print "ERROR Server b'$name' - recv got end signal...\n";
            delete $heads{$name};
            last;
        }
    }
    # Nobody tells a worker that its head is gone.
    sleep 1 while %heads;
}
