package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/config"
)

// Wiring is what the check of a configuration needs of the program.
type Wiring struct {
	// Try wires a configuration as the daemon does, starts nothing, and closes all again.
	Try func(c config.Config) error
	// Certificate reads a certificate, and says when it expires; "" where there is none.
	Certificate func(c config.TLS, now time.Time) (string, error)
	// Memory returns the memory that the program may have, 0 where that is not known.
	Memory func() config.Size
	// Snapshot returns the path that answers are saved at, "" where they are not saved.
	Snapshot func(c config.Cache) string
	// Lost returns an error where the file of the registry is missing, and was there.
	Lost func(c config.Config) error
	// Peers returns what a configuration names that can be asked.
	Peers func(c config.Config) []Peer
}

func newCheck(w Wiring) *cobra.Command {
	var dial bool
	cmd := &cobra.Command{
		Use:   "check FILE",
		Short: "Report all errors of a configuration file",
		Long: `Report all errors of a configuration file, with the environment applied to it.
The exit status is 0 if urnd would start with it, as far as can be known without opening
anything: it makes no file and no directory, takes no lock, listens nowhere and connects
to nothing, so that it can be used beside an urnd that runs. It reads the files of secrets
and certificates; what only opening can show is listed as "not checked". The status is 1, too, if
the settings allow more memory together than limits.memory, if that is set.
With --dial it connects to the servers that the configuration names: to that of
cache.shared and of the registry, to the DNS and to the collector of traces, which gets one
span. It says for each whether urnd could use it, changes nothing there, and the status
is 1 where it could not use one.`,
		Example: "  urnd config check /etc/urnd/urnd.yaml\n  urnd config check --dial /etc/urnd/urnd.yaml",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, origins, err := config.LoadOrigins(args[0], nil)
			if err != nil {
				return err
			}
			if err := w.Check(c); err != nil {
				return origins.Locate(err)
			}
			if faults := c.MemoryFaults(0); len(faults) > 0 {
				return origins.Locate(faults)
			}
			warnings := Warnings(c, origins, w.Memory())
			if err := w.Lost(c); err != nil {
				lost := config.Faults{{Path: "registry.store", Message: err.Error()}}
				lost.Locate(origins)
				warnings = append(warnings, lost...)
			}
			for _, warning := range warnings {
				fmt.Fprintf(cmd.ErrOrStderr(), "urnd: warning: %s\n", warning)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s is a valid configuration\n", args[0])
			if expiry := w.expiry(c, time.Now()); expiry != "" {
				fmt.Fprintf(cmd.OutOrStdout(), "tls.certificate: %s\n", expiry)
			}
			var peers []Peer
			if dial {
				peers = w.Peers(withoutCredentials(c))
			}
			for _, line := range w.notChecked(c, peers) {
				fmt.Fprintf(cmd.OutOrStdout(), "not checked: %s\n", line)
			}
			return ask(cmd.Context(), cmd.OutOrStdout(), peers)
		},
	}
	cmd.Flags().BoolVar(&dial, "dial", false, "connect to the servers that the configuration names, and say what is wrong with each")
	return cmd
}

// Warnings returns what is valid in a configuration, and probably not meant. memory is what the program may have, 0
// where that is not known.
func Warnings(c config.Config, origins config.Origins, memory config.Size) config.Faults {
	warnings := origins.Warnings(c)
	warnings = append(warnings, c.MemoryFaults(memory)...)
	warnings = append(warnings, ofFiles(c)...)
	warnings.Locate(origins)
	return warnings
}

// Check returns why a daemon would not start with a configuration, as far as that can be known without opening
// anything: see notChecked.
func (w Wiring) Check(c config.Config) error {
	c = withoutCredentials(c)
	if _, err := w.Certificate(c.TLS, time.Now()); err != nil {
		return err
	}
	for _, directory := range []struct{ setting, path string }{
		{"log.access_file", accessDirectory(c.Log)}, {"cache.disk_directory", diskDirectory(c.Cache)},
	} {
		if directory.path == "" {
			continue
		}
		info, err := os.Stat(directory.path)
		if errors.Is(err, fs.ErrPermission) {
			continue // notChecked says so: those of systemd are for the service alone
		} else if err != nil {
			return fmt.Errorf("%s: %w", directory.setting, err)
		} else if !info.IsDir() {
			return fmt.Errorf("%s: %s is no directory", directory.setting, directory.path)
		}
	}
	c.Cache.Disk = 0 // making the store makes its directory, and takes its lock
	// Nothing is cached: the memory may be that of the service, whose reload it is.
	for _, size := range []*config.Size{&c.Cache.Answers, &c.Cache.Records, &c.Cache.Responses} {
		*size = min(*size, 1<<20)
	}
	return w.Try(c)
}

// expiry says when the certificate of a configuration expires, "" where there is none.
func (w Wiring) expiry(c config.Config, now time.Time) string {
	text, err := w.Certificate(withoutCredentials(c).TLS, now)
	if err != nil {
		return ""
	}
	return text
}

// accessDirectory returns the directory of the access log, which urnd does not make; "" where there is none.
func accessDirectory(c config.Log) string {
	if c.AccessFile == "" || c.Access == "off" {
		return ""
	}
	return filepath.Dir(c.AccessFile)
}

// diskDirectory returns the directory of the cache on disk, which urnd makes; "" where it is not there, or not used.
func diskDirectory(c config.Cache) string {
	if _, err := os.Stat(c.DiskDirectory); c.Disk == 0 || errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return c.DiskDirectory
}
