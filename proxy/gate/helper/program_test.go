package helper_test

import (
	"bufio"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy/gate/helper"
)

// asHelper makes the test binary a helper program, whose questions select a misbehavior.
const asHelper = "as-helper"

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == asHelper {
		new(program).run(os.Args[2] == "ids")
		end()
	}
	os.Exit(m.Run())
}

// end ends the program immediately. The race detector would wait for a second.
func end() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL); select {} }

// program is the helper program of the tests.
type program struct {
	mu   sync.Mutex
	held string // an answer that is sent with the next one
}

func (p *program) run(ids bool) {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		channel, line := "", lines.Text()
		if ids {
			channel, line, _ = strings.Cut(line, " ")
			channel += " "
			go p.do(channel, line)
			continue
		}
		p.do(channel, line)
	}
}

func (p *program) print(texts ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, text := range texts {
		fmt.Print(text)
	}
}

func (p *program) do(channel, line string) {
	command, rest, _ := strings.Cut(line, " ")
	switch command {
	case "say":
		p.print(channel + rest + "\n")
	case "raw":
		p.print(rest + "\n")
	case "twice":
		p.print(channel + "OK user=first\n" + channel + "OK user=second\n")
	case "half":
		p.print(channel + "OK user=half")
		end()
	case "slowly": // in parts
		p.print(channel+"O", "K us", "er=slowly", "\n")
	case "die":
		fmt.Fprintln(os.Stderr, "I die")
		end()
	case "hang":
		<-time.After(time.Hour) // an empty select is a deadlock, which ends a program without cgo
	case "wait": // until the named pipe is opened and closed
		_, _ = os.ReadFile(rest)
		p.print(channel + "OK user=late\n")
	case "hold": // until the next answer
		p.mu.Lock()
		p.held = channel + "OK user=held\n"
		p.mu.Unlock()
	case "next":
		p.mu.Lock()
		held := p.held
		p.held = ""
		p.mu.Unlock()
		p.print(channel + "OK user=next\n" + held)
	case "flood":
		for {
			p.print("99 garbage\n")
		}
	case "long":
		p.print(channel + "OK user=" + strings.Repeat("a", helper.MaxLine) + "\n")
	case "child": // it keeps the pipes
		child := exec.Command("sleep", "1000")
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		_ = child.Start()
		p.print(channel + "OK user=" + strconv.Itoa(child.Process.Pid) + "\n")
	case "complain":
		n, _ := strconv.Atoi(rest)
		for i := range n {
			fmt.Fprintf(os.Stderr, "complaint %d %s\n", i, strings.Repeat("x", 5000))
		}
		p.print(channel + "OK\n")
	case "world":
		dir, _ := os.Getwd()
		p.print(fmt.Sprintf("%sOK dir=%s environment=%d\n", channel, dir, len(os.Environ())))
	default:
		p.print(channel + "OK user=" + command + "\n")
	}
}

// recorder is a log for tests.
type recorder struct {
	mu   sync.Mutex
	text strings.Builder
}

func (r *recorder) Write(text []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(text)
}

func (r *recorder) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

// start starts a pool of the test program. When it is closed, no process is left.
func start(t *testing.T, config helper.Config) (*helper.Pool, *recorder) {
	t.Helper()
	ids := "alone"
	if config.Concurrency > 0 {
		ids = "ids"
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if config.Command == nil {
		config.Command = []string{self, asHelper, ids}
	}
	return open(t, config)
}

// open opens a pool of any program, and closes it at the end of the test.
func open(t *testing.T, config helper.Config) (*helper.Pool, *recorder) {
	t.Helper()
	log := new(recorder)
	config.Name = "test"
	config.Log = slog.New(slog.NewTextHandler(log, nil))
	if config.Now == nil {
		config.Now = time.Now
	}
	if config.Timeout == 0 {
		config.Timeout = testserver.Timeout
	}
	pool, err := helper.New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		testserver.Within(t, "Close", pool.Close)
		pool.Close() // once more
		for _, command := range children(t) {
			if strings.Contains(command, config.Command[0]) {
				t.Errorf("a process is left: %s", command)
			}
		}
	})
	return pool, log
}

// children returns the commands of the child processes, none if the system does not list them.
func children(t *testing.T) (commands []string) {
	t.Helper()
	tasks, _ := filepath.Glob("/proc/self/task/*/children")
	for _, task := range tasks {
		pids, _ := os.ReadFile(task)
		for _, pid := range strings.Fields(string(pids)) {
			command, _ := os.ReadFile("/proc/" + pid + "/comm")
			line, _ := os.ReadFile("/proc/" + pid + "/cmdline")
			commands = append(commands,
				strings.TrimSpace(string(command))+" "+strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return commands
}
