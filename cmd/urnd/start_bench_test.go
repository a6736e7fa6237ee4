package main

import (
	"bufio"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// BenchmarkStart measures the time from the start of the program to READY=1, with the default configuration
// and a DNS server that immediately refuses, and its resident memory then.
func BenchmarkStart(b *testing.B) {
	binary := filepath.Join(build(b), "urnd")
	path := filepath.Join(b.TempDir(), "notify")
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		b.Fatal(err)
	}
	defer socket.Close()
	resident := 0
	for b.Loop() {
		cmd := exec.Command(binary, "serve", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")
		cmd.Env = append(os.Environ(), "NOTIFY_SOCKET="+path, "URND_DNS_SERVERS=127.0.0.1:9")
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		waitFor(b, socket, "READY=1")
		b.StopTimer()
		resident = max(resident, residentKiB(b, cmd.Process.Pid))
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			b.Fatal(err)
		}
		_ = cmd.Wait()
		b.StartTimer()
	}
	b.ReportMetric(float64(resident)/1024, "MiB-resident")
}

// waitFor reads notifications until one contains what.
func waitFor(b *testing.B, socket *net.UnixConn, what string) {
	b.Helper()
	if err := socket.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		b.Fatal(err)
	}
	for buffer := make([]byte, 4096); ; {
		n, err := socket.Read(buffer)
		if err != nil {
			b.Fatal(err)
		}
		if strings.Contains(string(buffer[:n]), what) {
			return
		}
	}
}

func residentKiB(b testing.TB, pid int) int {
	b.Helper()
	file, err := os.Open(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if words := strings.Fields(lines.Text()); len(words) > 1 && words[0] == "VmRSS:" {
			n, err := strconv.Atoi(words[1])
			if err != nil {
				b.Fatal(err)
			}
			return n
		}
	}
	b.Fatal("no VmRSS")
	return 0
}
