package adversary

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// inTime is the time limit to start and to stop, whatever is on the disk: it only detects hangs.
const inTime = waitLimit

// snapshots are invalid files in place of the snapshot of answers. urnd must start, respond and stop.
func (s *stage) snapshots() []payload {
	var payloads []payload
	add := func(name string, prepare func(directory string) error) {
		p := payload{name: name, section: "docs/operations.md", shows: name}
		p.play = func(ctx context.Context) error {
			directory, err := os.MkdirTemp(s.directory, "snapshot")
			if err != nil {
				return err
			}
			defer func() { _ = os.Chmod(directory, 0o700) }()
			if err := prepare(directory); err != nil {
				return err
			}
			return s.startsAndStops(ctx, s.config(), "URND_CACHE_DIRECTORY="+directory)
		}
		payloads = append(payloads, p)
	}
	for _, name := range []string{"answers", "answers.new", "answers.bad"} {
		add(name+" is a FIFO", func(d string) error { return syscall.Mkfifo(filepath.Join(d, name), 0o600) })
		add(name+" is a directory", func(d string) error { return os.MkdirAll(filepath.Join(d, name, "a"), 0o700) })
		add(name+" is a link to itself", func(d string) error { return os.Symlink(name, filepath.Join(d, name)) })
		add(name+" is /dev/zero", func(d string) error { return os.Symlink("/dev/zero", filepath.Join(d, name)) })
		add(name+" is /dev/full", func(d string) error { return os.Symlink("/dev/full", filepath.Join(d, name)) })
		add(name+" cannot be read",
			func(d string) error { return os.WriteFile(filepath.Join(d, name), []byte("a"), 0) })
	}
	for name, text := range map[string]string{
		"nothing": "", "nonsense": "\x7fELF" + strings.Repeat("\x00", 4096),
		"one line without end": "urnd answers 1 " + strings.Repeat("a", 30<<20), "half of a header": "urnd ans",
		"brackets":      "urnd answers 1 x\n" + strings.Repeat("[", 1<<20),
		"many lines":    strings.Repeat("{}\n", 1<<20),
		"invalid UTF-8": strings.Repeat("\xff\n", 1<<18),
	} {
		add("a snapshot of "+name,
			func(d string) error { return os.WriteFile(filepath.Join(d, "answers"), []byte(text), 0o600) })
	}
	add("a directory that cannot be written", func(d string) error { return os.Chmod(d, 0o500) })
	add("a directory that is not there", os.RemoveAll)
	add("a directory that is a file",
		func(d string) error { return errors.Join(os.RemoveAll(d), os.WriteFile(d, nil, 0o600)) })
	return inFamily("snapshots", payloads)
}

// files are invalid files in place of other files of the configuration. urnd may refuse to start; if it starts,
// it must respond and stop.
func (s *stage) files() []payload {
	var payloads []payload
	full := func(path string) error { return os.Symlink("/dev/full", path) }
	for _, setting := range []string{
		"log.access", "URND_ACCESS_PROXY_USERS", "URND_ACCESS_ADMIN_TOKEN",
		"URND_TLS_CERTIFICATE",
	} {
		for name, prepare := range map[string]func(path string) error{
			"a directory": func(path string) error { return os.Mkdir(path, 0o700) }, "on a full disk": full,
			"not there": func(string) error { return nil },
			"empty":     func(path string) error { return os.WriteFile(path, nil, 0o600) },
			"10 MB of nonsense": func(path string) error {
				return os.WriteFile(path, []byte(strings.Repeat("\xff", 10<<20)), 0o600)
			},
		} {
			if name == "on a full disk" && setting != "log.access" {
				continue // it is not written, and reading it does not end
			}
			p := payload{name: setting + " is " + name, section: "docs/operations.md", shows: name}
			p.play = func(ctx context.Context) error {
				path := filepath.Join(s.directory, s.id())
				if err := prepare(path); err != nil {
					return err
				}
				text, environment := s.config(), []string{setting + "=" + path}
				if setting == "log.access" {
					text, environment = s.loggingTo(path), nil
				}
				err := s.startsAndStops(ctx, text, environment...)
				if err != nil && strings.Contains(err.Error(), "urnd ended before it was ready: exit status 1") {
					return nil // it reports the error
				}
				return err
			}
			payloads = append(payloads, p)
		}
	}
	return inFamily("files", payloads)
}

// startsAndStops returns an error unless urnd starts with a configuration and these settings, responds, and
// stops in time.
func (s *stage) startsAndStops(ctx context.Context, text string, environment ...string) error {
	starting, cancel := context.WithTimeout(ctx, inTime)
	defer cancel()
	d, err := s.startWith(starting, text, environment...)
	if err != nil {
		return err
	}
	defer d.kill()
	if err := d.answers(ctx); err != nil {
		return err
	}
	stopping, cancel := context.WithTimeout(ctx, inTime)
	defer cancel()
	if err := d.stop(stopping); err != nil {
		return fmt.Errorf("at its end: %w", err)
	}
	return nil
}
