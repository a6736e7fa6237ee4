//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// ftpEntries is the number of entries of the directory, which are empty files.
const ftpEntries = 1000

// vsftpdConfig is for a process used only by this program. nopriv_user and ftp_username must exist.
const vsftpdConfig = `listen=YES
listen_address=127.0.0.1
listen_port=%s
background=NO
anonymous_enable=YES
local_enable=NO
anon_root=%s
ftp_username=daemon
nopriv_user=nobody
anon_world_readable_only=NO
secure_chroot_dir=%s
xferlog_enable=NO
`

// ftpServer is a vsftpd on the core of the clients and the origin. The zero value is none.
type ftpServer struct {
	address string
	dir     string
	cmd     *exec.Cmd
}

// startFTP starts vsftpd with the file and the directory of the rows, or none if it is not installed.
func startFTP(ctx context.Context, body []byte) (_ ftpServer, err error) {
	path, err := program("vsftpd")
	if err != nil {
		return ftpServer{}, nil // its rows report that
	}
	dir, err := os.MkdirTemp(tmpfs(), "urnd-peers-vsftpd-")
	if err != nil {
		return ftpServer{}, err
	}
	s := ftpServer{dir: dir}
	defer func() {
		if err != nil {
			s.stop()
		}
	}()
	if err := plant(dir, body); err != nil {
		return s, err
	}
	addresses, err := freePorts(ctx, 1)
	if err != nil {
		return s, err
	}
	s.address = addresses[0]
	file := filepath.Join(dir, "vsftpd.conf")
	text := fmt.Sprintf(vsftpdConfig, port(s.address), filepath.Join(dir, "root"), filepath.Join(dir, "empty"))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return s, err
	}
	s.cmd = exec.Command(path, file) //nolint:gosec,noctx // stop ends it
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := s.cmd.Start(); err != nil {
		return s, err
	}
	return s, s.wait(ctx)
}

// plant creates the files of the server.
func plant(dir string, body []byte) error {
	directory := filepath.Join(dir, "root", "directory")
	err := errors.Join(os.Chmod(dir, 0o755), os.MkdirAll(directory, 0o755), //nolint:gosec // its users enter it
		os.Mkdir(filepath.Join(dir, "empty"), 0o755),                  //nolint:gosec // its users enter it
		os.WriteFile(filepath.Join(dir, "root", "file"), body, 0o644)) //nolint:gosec // as above
	for i := range ftpEntries {
		err = errors.Join(err, os.WriteFile(filepath.Join(directory, entryName(i)), nil, 0o644)) //nolint:gosec // as above
	}
	return err
}

func entryName(i int) string { return fmt.Sprintf("entry-%04d", i) }

// wait waits until the server listens.
func (s ftpServer) wait(ctx context.Context) error {
	const attempts, pause = 100, 50 * time.Millisecond
	tick := time.NewTicker(pause)
	defer tick.Stop()
	var last error
	for range attempts {
		c, err := dial(ctx, s.address)
		if err == nil {
			return c.Close()
		}
		last = err
		<-tick.C
	}
	return last
}

// stop ends the server.
func (s ftpServer) stop() {
	if s.cmd != nil && s.cmd.Process != nil {
		_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGTERM) // fails only if all have ended
		_ = s.cmd.Wait()
	}
	_ = os.RemoveAll(s.dir) // a folder for temporary files
}

// ftpPath returns the path that a row requests from the FTP server.
func (r row) ftpPath() string {
	if r.form == ftpFile {
		return "/file"
	}
	return "/directory/"
}

// checkDirectory returns an error if a page lacks an entry of the directory.
func checkDirectory(page []byte) error {
	for i := range ftpEntries {
		if !bytes.Contains(page, []byte(entryName(i))) {
			return fmt.Errorf("the directory does not have %s", entryName(i))
		}
	}
	return nil
}
