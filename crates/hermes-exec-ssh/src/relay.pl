# The far end of a connection: starts commands and talks about them in frames (see protocol.rs).
#
# Runs on whatever perl the host has, with nothing but its core. For each command there is a keeper,
# a fork of this process that stays the ancestor of all that the command starts (a subreaper, on
# Linux), so that it can be found and ended. Without a connection everything is ended.
use strict;
use POSIX qw(:errno_h :fcntl_h :sys_wait_h);

# Bytes of output that may wait for the connection before no more is read from commands.
my $FULL = 256 * 1024;
# Bytes that a read takes; a pipe holds as many.
my $CHUNK = 65536;
# Seconds without a word from the other side, which speaks every minute, before it counts as gone.
my $SILENCE = 900;
# Seconds between the friendly signal and the other one when the connection is gone.
my $GRACE = 1;
# Seconds after the last signal before what is still there is given up.
my $GIVE_UP = 3;

# Seconds by a clock that nobody sets.
my $ticks = POSIX::sysconf(POSIX::_SC_CLK_TCK());
sub now { return (POSIX::times())[0] / $ticks }

my ($in, $out, $told) = ('', '', '');
# Commands by number.
my %commands;
# Commands by the number of their keeper's process.
my %keepers;
my $lost = 0;
my $heard = now();
my $turn = 0;
my ($system, $machine) = (POSIX::uname())[0, 4];
my $is_linux = $system eq 'Linux';

# ---- system calls that perl has no names for ----

my $narrow = length(pack 'L!', 0) == 4;
my %prctl_numbers = (
    x86_64 => $narrow ? 172 : 157, aarch64 => $narrow ? 172 : 167, riscv64 => 167, loongarch64 => 167,
    ppc64 => 171, ppc64le => 171, s390x => 172, (map { $_ => 172 } qw(i386 i486 i586 i686)),
);
my $prctl = $is_linux ? $prctl_numbers{$machine} || ($machine =~ /^arm/ ? 172 : 0) : 0;

sub prctl {
    my ($option, $value) = @_;
    return $prctl && syscall($prctl, $option, $value, 0, 0, 0) == 0;
}

# Whoever loses its parent becomes a child of this process, or of its command's keeper.
$prctl = 0 if !prctl(36, 1);

# Linux numbers of requests, the same on all but a few machines.
my $has_terminals = $is_linux && $machine !~ /mips|ppc|sparc|alpha|parisc/ && -e '/dev/ptmx';

sub set_size {
    my ($terminal, $rows, $cols) = @_;
    return ioctl $terminal, 0x5414, pack 'S4', $rows, $cols, 0, 0;
}

sub terminal {
    my ($rows, $cols) = @_;
    die "terminals can't be made on this host ($system $machine)\n" if !$has_terminals;
    sysopen my $ours, '/dev/ptmx', O_RDWR | O_NOCTTY or die "a terminal can't be made: $!\n";
    my $number = pack 'i', 0;
    ioctl $ours, 0x40045431, $number or die "a terminal can't be unlocked: $!\n";
    ioctl $ours, 0x80045430, $number or die "a terminal has no number: $!\n";
    my $name = '/dev/pts/' . unpack 'i', $number;
    sysopen my $theirs, $name, O_RDWR | O_NOCTTY or die "$name: $!\n";
    set_size($ours, $rows, $cols);
    return ($ours, $theirs);
}

# ---- the machine ----

# Where a program is, for commands whose variables may not say.
sub find {
    my ($name) = @_;
    for my $folder (split(/:/, defined $ENV{PATH} ? $ENV{PATH} : ''), qw(/bin /usr/bin /usr/local/bin /usr/pkg/bin)) {
        return "$folder/$name" if $folder =~ m{^/} && -f "$folder/$name" && -x _;
    }
    return '';
}

my ($bash, $sh, $cat) = map { find($_) } qw(bash sh cat);

sub private_folder {
    my @letters = ('a' .. 'z', 0 .. 9);
    for my $parent (grep { defined && m{^/} && -d && -w _ } $ENV{TMPDIR}, '/tmp', '/var/tmp', $ENV{HOME}) {
        for (1 .. 20) {
            my $path = "$parent/hermes-" . join '', map { $letters[rand @letters] } 1 .. 16;
            return ($parent, $path) if mkdir $path, 0700;
            last if $! != EEXIST;
        }
    }
    print STDERR "no folder for temporary files can be written to\n";
    exit 8;
}

my ($temp, $folder) = private_folder();

# ---- who is whose child ----

# One look at all processes: number => [parent, group, has ended], and the children of each.
sub look {
    my (%all, %children);
    if ($is_linux) {
        opendir my $proc, '/proc' or return {};
        for my $pid (grep { /^[0-9]+\z/ } readdir $proc) {
            open my $stat, '<', "/proc/$pid/stat" or next;
            sysread $stat, my $line, 4096 or next;
            # The name in parentheses may hold anything.
            $all{$pid} = [$2, $3, scalar $1 =~ /[ZX]/] if $line =~ /.*\) (\S) (\d+) (\d+)/s;
        }
    } else {
        for (qx{ps -A -o pid= -o ppid= -o pgid= -o state=}) {
            $all{$1} = [$2, $3, scalar $4 =~ /^Z/] if /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)/;
        }
    }
    push @{ $children{ $all{$_}[0] } }, $_ for keys %all;
    return { all => \%all, children => \%children };
}

# Whom descent doesn't tell of: processes by the mark of a command that they carry.
sub marked {
    my ($look, $mark) = @_;
    if (!$look->{marked}) {
        my $all = $look->{all};
        $look->{marked} = {};
        for my $pid ($is_linux ? keys %$all : ()) {
            open my $file, '<', "/proc/$pid/environ" or next;
            local $/;
            my $environ = <$file>;
            push @{ $look->{marked}{$1} }, $pid
                if defined $environ && $environ =~ /(?:^|\0)(HERMES_COMMAND_ID=\Q$folder\E[^\0]*)/;
        }
    }
    return @{ $look->{marked}{$mark} || [] };
}

# All that runs below some processes, and whom else they are known by.
sub below {
    my ($look, $roots, $group, $mark) = @_;
    my ($all, $children) = @$look{qw(all children)};
    my %found;
    my @open = map { @{ $children->{$_} || [] } } @$roots;
    push @open, marked($look, $mark), grep { $all->{$_}[1] == $group } keys %$all if $mark;
    my %roots = map { $_ => 1 } @$roots;
    while (defined(my $pid = pop @open)) {
        next if $roots{$pid} || $pid == $$ || $found{$pid}++;
        push @open, @{ $children->{$pid} || [] };
    }
    return grep { !$all->{$_}[2] } keys %found;
}

# Where the system lists the children of a process, there is no need to look at all processes. The
# list may lack some while others end, so whoever needs all of them asks again. Some have ended.
my $has_lists = $prctl && -e "/proc/$$/task/$$/children";

sub children {
    my ($pid) = @_;
    my @children;
    opendir my $tasks, "/proc/$pid/task" or return;
    for my $task (grep { /^[0-9]+\z/ } readdir $tasks) {
        open my $list, '<', "/proc/$pid/task/$task/children" or next;
        push @children, map { split } <$list>;
    }
    return @children;
}

# The same as `below`, with a look of the caller's that is taken only if it is needed.
sub family {
    my ($look, $roots, $group, $mark) = @_;
    return below($$look ||= look(), $roots, $group, $mark) if !$has_lists;
    my @found = map { children($_) } @$roots;
    my %roots = map { $_ => 1 } @$roots;
    @found = grep { !$roots{$_} } @found;
    for (my $at = 0; $at < @found; $at++) {
        push @found, children($found[$at]);
    }
    return @found;
}

# Kills all that is below this process.
sub kill_below {
    my ($group, $mark) = @_;
    for (1 .. 50) {
        1 while waitpid(-1, WNOHANG) > 0;
        my @running = family(\my $look, [$$], $group, $mark) or return;
        kill 'STOP', @running;
        kill 'KILL', @running;
        select undef, undef, undef, 0.02;
    }
}

# ---- frames ----

sub send_frame {
    my ($type, $id, $body) = @_;
    $out .= pack('aNN', $type, $id, length $body) . $body if !$lost;
}

# ---- starting ----

sub start {
    my ($id, $body) = @_;
    my ($how, $rows, $cols, $window, $script, @env) = unpack '(N/a*)*', $body;
    my %how = map { $_ => 1 } split //, $how;
    my $c = { id => $id, file => "$folder/$id", credit => { o => $window, e => $window }, input => '' };
    my ($stdin, $stdout, $stderr, $failed, $fail);
    my $made = eval {
        die "there is no bash on this host\n" if !$bash && !$how{p};
        sysopen my $file, $c->{file}, O_WRONLY | O_CREAT | O_EXCL, 0600 or die "$c->{file}: $!\n";
        while (length $script) {
            my $count = syswrite $file, $script;
            die "$c->{file}: $!\n" if !$count;
            substr($script, 0, $count) = '';
        }
        close $file or die "$c->{file}: $!\n";
        if ($how{t}) {
            ($c->{o}, $stdin) = terminal($rows, $cols);
            open $c->{i}, '>&', $c->{o} or die "$!\n";
            ($stdout, $stderr) = ($stdin, $stdin);
        } else {
            pipe $c->{o}, $stdout or die "$!\n";
            if ($how{e}) { pipe $c->{e}, $stderr or die "$!\n" }
            else { $stderr = $stdout }
            if ($how{i}) { pipe $stdin, $c->{i} or die "$!\n" }
            else { open $stdin, '<', '/dev/null' or die "/dev/null: $!\n" }
        }
        nonblocking($_) for grep { defined } $c->{i};
        pipe $failed, $fail or die "$!\n";
        1;
    };
    my $keeper = $made ? fork : undef;
    if (!defined $keeper) {
        my $reason = $made ? "no process can be made: $!" : $@;
        chomp $reason;
        unlink $c->{file};
        return send_frame('f', $id, $reason);
    }
    if ($keeper == 0) {
        eval { keep($c, \%how, \@env, $stdin, $stdout, $stderr, $failed, $fail) };
        POSIX::_exit(1);
    }
    $c->{keeper} = $keeper;
    $commands{$id} = $c;
    $keepers{$keeper} = $id;
}

# What isn't known by descent is known by this.
sub mark { return $prctl ? '' : "HERMES_COMMAND_ID=$folder/$_[0]" }

pipe my $tell_read, my $tell or die "pipe: $!\n";
pipe my $wake_read, my $wake or die "pipe: $!\n";

# The life of a keeper.
sub keep {
    my ($c, $how, $env, $stdin, $stdout, $stderr, $failed, $fail) = @_;
    my $relay = getppid;
    my ($id, $file) = ($c->{id}, $c->{file});
    my $mark = mark($id);
    $SIG{$_} = 'DEFAULT' for qw(CHLD HUP INT);
    my $shell = 0;
    my $end = sub {
        kill_below($shell, $mark);
        unlink $file;
        rmdir $folder;
        POSIX::_exit(1);
    };
    $SIG{TERM} = $end;
    prctl(36, 1);
    prctl(1, 15);
    $end->() if getppid != $relay;
    # Nothing of the others, or they would not notice each other's end.
    for my $other ($c, values %commands) {
        close $other->{$_} for grep { $other->{$_} } qw(i o e);
    }
    %commands = ();
    $out = $in = '';
    close $wake;
    open STDIN, '<', '/dev/null';
    open STDOUT, '>', '/dev/null';
    $shell = fork;
    if (!defined $shell) {
        syswrite $tell, sprintf "%d f %d\n", $id, $!;
        return;
    }
    if ($shell == 0) {
        $SIG{$_} = 'DEFAULT' for qw(TERM PIPE);
        run($how, $env, $mark, $file, $stdin, $stdout, $stderr);
        syswrite $fail, 0 + $!;
        POSIX::_exit(127);
    }
    open STDERR, '>', '/dev/null';
    close $_ for $stdin, $stdout, $stderr, $fail;
    sysread $failed, my $reason, 32;
    syswrite $tell, $reason ? "$id f $reason\n" : "$id p $shell\n";
    while (1) {
        my $pid = waitpid -1, 0;
        return if $pid < 0;
        next if $pid != $shell || $reason;
        syswrite $tell, sprintf "%d x %d\n", $id, $? & 127 ? 128 + ($? & 127) : $? >> 8;
    }
}

# Becomes the shell; returns if that fails.
sub run {
    my ($how, $env, $mark, $file, $stdin, $stdout, $stderr) = @_;
    POSIX::setsid();
    ioctl $stdin, 0x540e, 0 if $how->{t};
    POSIX::dup2(fileno $stdin, 0);
    POSIX::dup2(fileno $stdout, 1);
    POSIX::dup2(fileno $stderr, 2);
    %ENV = () if $how->{b};
    # Files that shells read at their start, whatever they are started for.
    delete @ENV{qw(BASH_ENV ENV)};
    $ENV{TERM} = 'xterm-256color' if $how->{t};
    for (@$env, $mark) { $ENV{$1} = $2 if /^([^=]+)=(.*)\z/s }
    my $quoted = $file;
    $quoted =~ s/'/'\\''/g;
    if ($how->{p}) {
        exec { $sh || '/bin/sh' } 'sh', '-c', "eval \"\$('$cat' '$quoted')\n\"";
    } else {
        my @options = $how->{l} ? '-l' : ('--noprofile', '--norc');
        exec { $bash } 'bash', @options, '-c', "eval \"\$(<'$quoted')\n\"";
    }
}

sub nonblocking {
    my ($handle) = @_;
    my $flags = fcntl $handle, F_GETFL, 0;
    fcntl $handle, F_SETFL, $flags | O_NONBLOCK;
}

# ---- ending ----

sub terminate {
    my ($c, $grace) = @_;
    my $deadline = now() + $grace;
    # An impatient one overtakes a patient one.
    return if $c->{kill} && $c->{kill}{deadline} <= $deadline;
    $c->{kill} ||= { told => {} };
    $c->{kill}{deadline} = $deadline;
    hurry();
}

# When the last step had ended, how long it took, when the next one is due.
my ($last_look, $took, $next_look) = (0, 0, 0);
my $pause = 0.01;

# The next step is due, but no more than half of the time goes into steps.
sub hurry {
    my $soon = $last_look + $took;
    $next_look = $soon if $soon < $next_look;
    $pause = 0.01;
}

# One step of ending everything that is to end. Returns seconds until the next.
sub end_some {
    my @dying = grep { $_->{kill} } values %commands;
    if (!@dying) { $pause = 0.01; return 60 }
    my $begin = now();
    return $next_look - $begin if $begin < $next_look;
    my $look;
    for my $c (@dying) {
        my $kill = $c->{kill};
        my @running = family(\$look, [grep { $_ } $c->{keeper}], $c->{shell} || -1, mark($c->{id}));
        # A keeper ends when nothing is left below it. Without one it must be seen.
        my $settled = $prctl ? !$c->{keeper} : !@running && (defined $c->{exit} || $c->{is_lost});
        if ($settled || $kill->{killed} && $begin > $kill->{killed} + $GIVE_UP) {
            delete $c->{kill};
            send_frame('t', $c->{id}, '');
            forget($c);
            next;
        }
        if ($begin >= $kill->{deadline}) {
            # Stopped first, so that none makes another meanwhile.
            kill 'STOP', @running;
            kill 'KILL', @running;
            $kill->{killed} ||= $begin;
            next;
        }
        my @new = grep { !$kill->{told}{$_}++ } @running;
        # The shell's group at once: a shell that outlives its children would talk about it.
        kill 'TERM', -$c->{shell} if $c->{shell} && grep { $_ == $c->{shell} } @new;
        kill 'TERM', @new;
        kill 'CONT', @new;
    }
    $last_look = now();
    $took = $last_look - $begin;
    $pause *= 1.3 if $pause < 0.1;
    $next_look = $last_look + ($pause > 4 * $took ? $pause : 4 * $took);
    return 0 if !grep { $_->{kill} } values %commands;
    return $next_look - now();
}

sub lose {
    return if $lost;
    $lost = 1;
    $out = '';
    terminate($_, $GRACE) for values %commands;
}

sub forget {
    my ($c) = @_;
    return if !$c->{is_told} || $c->{o} || $c->{e} || $c->{kill} || $c->{keeper};
    # Without a keeper's help the group may still be needed to end what is left of it.
    return if !$prctl && $c->{shell} && kill 0, -$c->{shell};
    delete $commands{ $c->{id} };
    send_frame('g', $c->{id}, '');
}

# ---- what comes ----

sub handle {
    my ($type, $id, $body) = @_;
    return start($id, $body) if $type eq 'S';
    return send_frame('P', 0, '') if $type eq 'P';
    return lose() if $type eq 'Q';
    my $c = $commands{$id} or return;
    if ($type eq 'I') {
        if ($c->{i}) { $c->{input} .= $body; feed($c) }
        else { send_frame('c', $id, pack 'N', length $body) }
    } elsif ($type eq 'E') {
        $c->{is_last} = 1;
        feed($c);
    } elsif ($type eq 'C') {
        my ($stream, $count) = unpack 'aN', $body;
        $c->{credit}{$stream} += $count;
    } elsif ($type eq 'X') {
        if ($c->{is_released}) { $c->{drop}{$body} = 1 }
        elsif ($c->{$body}) { end_stream($c, $body) }
    } elsif ($type eq 'R') {
        $c->{is_released} = 1;
    } elsif ($type eq 'T') {
        terminate($c, unpack('N', $body) / 1000);
    } elsif ($type eq 'Z') {
        set_size($c->{o}, unpack 'nn', $body) if $c->{o};
    }
}

# Gives a command what it has been sent.
sub feed {
    my ($c) = @_;
    if ($c->{i} && length $c->{input}) {
        my $count = syswrite $c->{i}, $c->{input}, $CHUNK;
        if ($count) {
            substr($c->{input}, 0, $count) = '';
            send_frame('c', $c->{id}, pack 'N', $count);
        } elsif ($! != EAGAIN && $! != EINTR) {
            close_input($c);
        }
    }
    close_input($c) if $c->{i} && $c->{is_last} && !length $c->{input};
}

# A command that reads no more gets no more; what comes is answered as if it were read.
sub close_input {
    my ($c) = @_;
    send_frame('b', $c->{id}, '');
    send_frame('c', $c->{id}, pack 'N', length $c->{input}) if length $c->{input};
    $c->{input} = '';
    delete $c->{i};
}

sub end_stream {
    my ($c, $stream) = @_;
    delete $c->{$stream};
    send_frame($stream eq 'o' ? 'O' : 'L', $c->{id}, '');
    forget($c);
}

sub read_stream {
    my ($c, $stream) = @_;
    my $limit = $c->{drop}{$stream} || $c->{credit}{$stream} > $CHUNK ? $CHUNK : $c->{credit}{$stream};
    my $count = sysread $c->{$stream}, my $chunk, $limit;
    # A terminal whose other side is closed by all says EIO.
    return $! == EINTR || $! == EAGAIN ? undef : end_stream($c, $stream) if !$count;
    $c->{rest} -= $count if defined $c->{rest};
    return if $c->{drop}{$stream};
    $c->{credit}{$stream} -= $count;
    send_frame($stream, $c->{id}, $chunk);
}

# What keepers say.
sub listen_to_keepers {
    sysread $tell_read, $told, $CHUNK, length $told;
    while ($told =~ s/^(\d+) ([pfx]) (\d+)\n//) {
        my ($id, $what, $number) = ($1, $2, $3);
        my $c = $commands{$id} or next;
        if ($what eq 'p') {
            $c->{shell} = $number;
            send_frame('s', $id, pack 'N', $number);
        } elsif ($what eq 'f') {
            local $! = $number;
            send_frame('F', $id, "the shell can't be started: $!");
            unlink $c->{file};
            delete $keepers{ $c->{keeper} };
            delete $commands{$id};
        } else {
            $c->{exit} = $number;
            # What it wrote itself is in its pipes, which hold this much.
            $c->{rest} = 2 * $CHUNK;
            # It comes before the end, though the window be full.
            $c->{credit}{$_} += $c->{rest} for 'o', 'e';
            unlink $c->{file};
        }
    }
}

# Ends those whose keeper was killed: they have become children of this process.
sub kill_orphans {
    my $look = $has_lists ? undef : look();
    my @orphans = grep { !$keepers{$_} } $look ? @{ $look->{children}{$$} || [] } : children($$);
    kill 'KILL', @orphans, family(\$look, \@orphans);
}

sub collect {
    while ((my $pid = waitpid -1, WNOHANG) > 0) {
        my $id = delete $keepers{$pid};
        next if !defined $id;
        # It may have said something before it went.
        my $set = '';
        vec($set, fileno $tell_read, 1) = 1;
        listen_to_keepers() if select $set, undef, undef, 0;
        my $c = $commands{$id} or next;
        delete $c->{keeper};
        close_input($c) if $c->{i};
        if (!defined $c->{exit}) {
            $c->{is_lost} = $c->{is_told} = 1;
            unlink $c->{file};
            send_frame('l', $c->{id}, '');
            kill_orphans();
        }
        if ($c->{kill} && $prctl) {
            delete $c->{kill};
            send_frame('t', $c->{id}, '');
        }
        forget($c) if $commands{$id};
    }
}

# ---- the loop ----

nonblocking($_) for *STDIN, *STDOUT, $wake, $wake_read;
$SIG{PIPE} = 'IGNORE';
$SIG{CHLD} = sub { local $!; syswrite $wake, 'c' };
$SIG{$_} = sub { local $!; lose(); syswrite $wake, 'c' } for qw(HUP INT TERM);

my $home = defined $ENV{HOME} && $ENV{HOME} =~ m{^/} ? $ENV{HOME} : (getpwuid $<)[7];
send_frame('H', $$, pack '(N/a*)*', $home, $temp, $bash, $has_terminals ? 1 : 0);

my ($stdin, $stdout) = (fileno STDIN, fileno STDOUT);
binmode $_ for *STDIN, *STDOUT;
while (!$lost || grep { $_->{kill} } values %commands) {
    my $wait = end_some();
    last if $lost && !grep { $_->{kill} } values %commands;
    my ($r, $w) = ('', '');
    vec($r, fileno $wake_read, 1) = 1;
    vec($r, fileno $tell_read, 1) = 1;
    vec($r, $stdin, 1) = 1 if !$lost;
    vec($w, $stdout, 1) = 1 if length $out;
    my $is_full = length $out >= $FULL;
    my @streams;
    for my $c (values %commands) {
        vec($w, fileno $c->{i}, 1) = 1 if $c->{i} && length $c->{input};
        for my $stream (grep { $c->{$_} } 'o', 'e') {
            next if $is_full && !$c->{drop}{$stream} || !$c->{drop}{$stream} && $c->{credit}{$stream} <= 0;
            vec($r, fileno $c->{$stream}, 1) = 1;
            push @streams, [$c, $stream];
        }
        $wait = 0 if defined $c->{exit} && !$c->{is_told} && !$is_full;
    }
    my $ready = select $r, $w, undef, $wait;
    ($r, $w) = ('', '') if $ready < 0;
    if (!$lost && vec $r, $stdin, 1) {
        my $count = sysread STDIN, $in, 4 * $CHUNK, length $in;
        if ($count) { $heard = now() }
        elsif (defined $count || $! != EAGAIN && $! != EINTR) { lose() }
    }
    while (length $in >= 9) {
        my ($type, $id, $length) = unpack 'aNN', $in;
        last if length $in < 9 + $length;
        my $body = substr $in, 9, $length;
        substr($in, 0, 9 + $length) = '';
        handle($type, $id, $body);
    }
    lose() if now() - $heard > $SILENCE;
    # Each begins with another one, so that the first doesn't take all the room.
    $turn++;
    my %is_ready;
    for (0 .. $#streams) {
        my ($c, $stream) = @{ $streams[($_ + $turn) % @streams] };
        next if !$c->{$stream};
        $is_ready{ $c->{id} }++ if vec $r, fileno $c->{$stream}, 1;
        next if !$is_ready{ $c->{id} } || length $out >= $FULL && !$c->{drop}{$stream};
        read_stream($c, $stream) if vec $r, fileno $c->{$stream}, 1;
    }
    for my $c (values %commands) {
        feed($c) if $c->{i} && vec $w, fileno $c->{i}, 1;
        # The end is told after what was written before it, unless nobody takes that.
        next if !defined $c->{exit} || $c->{is_told} || $is_full;
        next if $is_ready{ $c->{id} } && $c->{rest} > 0;
        next if $ready < 0;
        $c->{is_told} = 1;
        send_frame('x', $c->{id}, pack 'N', $c->{exit});
        forget($c);
    }
    listen_to_keepers() if vec $r, fileno $tell_read, 1;
    if (vec $r, fileno $wake_read, 1) {
        sysread $wake_read, my $drained, $CHUNK;
        collect();
    }
    if (length $out && !$lost) {
        my $count = syswrite STDOUT, $out, 4 * $CHUNK;
        if ($count) { substr($out, 0, $count) = '' }
        elsif (!defined $count && $! != EAGAIN && $! != EINTR) { lose() }
    }
}

# Whoever lost its keeper is a child of this process.
kill_below(-1, '') if $prctl;
unlink map { $_->{file} } values %commands;
rmdir $folder;
exit 0;
