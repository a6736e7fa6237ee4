package promise

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestMain adds the flag -update.
func TestMain(m *testing.M) {
	flag.Bool(updateFlag, false, "rewrite the files of promises in testdata")
	flag.Parse()
	os.Exit(m.Run())
}

const updateFlag = "update"

// root is the root of the module, relative to this package.
const root = "../.."

// kind is a kind of promise. gather returns its lines in any order and without line breaks; no lines are an
// error.
type kind struct {
	file   string
	gather func(t *testing.T, p *program) []string
}

func kinds() []kind {
	return []kind{
		{"settings", gatherSettings},
		{"commands", gatherCommands},
		{"openapi", gatherOpenAPI},
		{"metrics", gatherMetrics},
		{"problems", gatherProblems},
		{"links", gatherLinks},
		{"fields", gatherFields},
		{"routes", gatherRoutes},
		{"exits", gatherExits},
		{"formats", gatherFormats}, // stops the daemon
		{"accesslogs", gatherAccessLogs},
		{"logs", gatherLogs},
	}
}

// TestPromises compares the interfaces with the files in testdata.
func TestPromises(t *testing.T) {
	p := build(t)
	p.origin = startOrigin(t)
	directory, config := p.prepare(t, startDNS(t), p.origin.url)
	token := p.register(t, directory, config)
	p.daemon = p.start(t, directory, config)
	p.requests = p.visit(t, token)
	p.daemon.reload(t)
	p.origin.waitForPurge(t)
	p.commands = p.readCommands(t)
	for _, k := range kinds() {
		t.Run(k.file, func(t *testing.T) { compare(t, k.file, k.gather(t, p)) })
	}
}

// compare compares lines with a file, or rewrites it.
func compare(t *testing.T, file string, lines []string) {
	t.Helper()
	if t.Failed() {
		return // the lines are incomplete
	}
	slices.Sort(lines)
	lines = slices.Compact(lines)
	for _, line := range lines {
		if strings.ContainsAny(line, "\r\n") {
			t.Fatalf("a promise of more than one line: %q", line)
		}
	}
	if len(lines) == 0 {
		t.Fatal("no promises were found: what gathers them has to follow a change of the code")
	}
	path := goldenPath(file)
	if flag.Lookup(updateFlag).Value.String() == "true" {
		const readable = 0o644
		if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), readable); err != nil {
			t.Fatal(err)
		}
		return
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%v; go test ./internal/promise -update writes it", err)
	}
	if diff := difference(recorded(file), lines); diff != "" {
		t.Errorf("what users see has changed (- recorded, + now):\n%s"+
			"If this is intended, accept it with: go test ./internal/promise -update\n"+
			"and write the line of CHANGELOG.md for users.", diff)
	}
}

func goldenPath(file string) string { return filepath.Join("testdata", file+".txt") }

// recorded returns the lines of a file, nil if it does not exist.
func recorded(file string) []string {
	text, err := os.ReadFile(goldenPath(file))
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// difference returns the lines that are only in one of two sorted lists, "" for equal lists.
func difference(before, after []string) string {
	var b strings.Builder
	for _, line := range before {
		if _, ok := slices.BinarySearch(after, line); !ok {
			fmt.Fprintf(&b, "- %s\n", line)
		}
	}
	for _, line := range after {
		if !slices.Contains(before, line) {
			fmt.Fprintf(&b, "+ %s\n", line)
		}
	}
	return b.String()
}

func TestDifference(t *testing.T) {
	for _, c := range []struct{ before, after, want string }{
		{"a b", "a b", ""},
		{"a b", "a c", "- b\n+ c\n"},
		{"", "a", "- \n+ a\n"},
	} {
		if got := difference(strings.Split(c.before, " "), strings.Split(c.after, " ")); got != c.want {
			t.Errorf("difference(%q, %q) = %q, want %q", c.before, c.after, got, c.want)
		}
	}
}

// program is an urnd built for the test.
type program struct {
	path     string
	source   source // of the program
	daemon   *daemon
	requests []request // to the daemon, with their responses
	origin   *origin
	commands []command
}

// build builds urnd. It uses the build cache of other tests; omitting debug information halves the link time.
func build(t *testing.T) *program {
	t.Helper()
	p := &program{path: filepath.Join(t.TempDir(), "urnd")}
	command := exec.CommandContext(t.Context(), "go", "build", "-pgo=off", "-ldflags=-s -w", "-o", p.path,
		root+"/cmd/urnd")
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("building urnd: %v\n%s", err, out)
	}
	if p.source, err = readSource(root); err != nil {
		t.Fatal(err)
	}
	return p
}

// result is the result of a command.
type result struct {
	stdout, stderr string
	status         int
}

// run runs a command of urnd without a configuration. environment is added to an environment without settings.
func (p *program) run(t *testing.T, environment []string, args ...string) result {
	t.Helper()
	return p.pipe(t, "", environment, args...)
}

// pipe is like run with standard input.
func (p *program) pipe(t *testing.T, stdin string, environment []string, args ...string) result {
	t.Helper()
	var stdout, stderr strings.Builder
	command := exec.CommandContext(t.Context(), p.path, args...)
	command.Env = append(cleanEnvironment(), environment...)
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader(stdin), &stdout, &stderr
	if err := command.Run(); err != nil && command.ProcessState == nil {
		t.Fatal(err)
	}
	return result{stdout.String(), stderr.String(), command.ProcessState.ExitCode()}
}

// must runs a command that must succeed, and returns its standard output.
func (p *program) must(t *testing.T, args ...string) string {
	t.Helper()
	r := p.run(t, nil, args...)
	if r.status != 0 {
		t.Fatalf("urnd %s: status %d: %s", strings.Join(args, " "), r.status, r.stderr)
	}
	return r.stdout
}

// cleanEnvironment returns the environment without variables of urnd, and with an empty path of the
// configuration, so that no configuration of this machine is read.
func cleanEnvironment() []string {
	clean := slices.DeleteFunc(os.Environ(), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return strings.HasPrefix(name, "URND_") || strings.HasPrefix(name, "LISTEN_") ||
			strings.HasSuffix(name, "_DIRECTORY") ||
			slices.Contains([]string{"NOTIFY_SOCKET", "WATCHDOG_USEC", "JOURNAL_STREAM"}, name)
	})
	return append(clean, "URND_CONFIG=", "LC_ALL=C", "TZ=UTC")
}
