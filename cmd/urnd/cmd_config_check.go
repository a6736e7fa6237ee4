package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/proxy/listen"
)

func newConfigCheck() *cobra.Command {
	return &cobra.Command{
		Use:   "check FILE",
		Short: "Report all errors of a configuration file",
		Long: `Report all errors of a configuration file, with the environment applied to it.
The exit status is 0 if urnd would start with it, as far as can be known without opening
anything: it makes no file and no directory, takes no lock, listens nowhere and connects
to nothing, so that it can be used beside an urnd that runs. It reads the files of secrets
and certificates; what only opening can show is listed as "not checked". The status is 1, too, if
the settings allow more memory together than limits.memory, if that is set.`,
		Example: "  urnd config check /etc/urnd/urnd.yaml",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, origins, err := config.LoadOrigins(args[0], nil)
			if err != nil {
				return err
			}
			if err := dryRun(c); err != nil {
				return origins.Locate(err)
			}
			if faults := c.MemoryFaults(0); len(faults) > 0 {
				return origins.Locate(faults)
			}
			for _, warning := range warningsOf(c, origins) {
				fmt.Fprintf(cmd.ErrOrStderr(), "urnd: warning: %s\n", warning)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s is a valid configuration\n", args[0])
			if expiry := expiryOf(c, time.Now()); expiry != "" {
				fmt.Fprintf(cmd.OutOrStdout(), "tls.certificate: %s\n", expiry)
			}
			for _, line := range notChecked(c) {
				fmt.Fprintf(cmd.OutOrStdout(), "not checked: %s\n", line)
			}
			return nil
		},
	}
}

// warningsOf returns what is valid in a configuration, and probably not meant.
func warningsOf(c config.Config, origins config.Origins) config.Faults {
	warnings := append(c.Warnings(), origins.Warnings()...)
	warnings = append(warnings, c.MemoryFaults(availableMemory())...)
	for _, secret := range secretFiles(&c) {
		if *secret.name == "" || secret.isPublic || strings.HasPrefix(*secret.name, config.CredentialPrefix) {
			continue
		}
		const others = 0o004
		info, err := os.Stat(*secret.name)
		switch {
		case err == nil && info.Mode()&others != 0:
			warnings = append(warnings, config.Fault{Path: secret.setting, Message: fmt.Sprintf("all users of this machine can read %s (chmod o-r)", *secret.name)})
		case err != nil && secret.setting == "registry.password": // of the others, reading fails
			warnings = append(warnings, config.Fault{Path: secret.setting, Message: "the file that it names cannot be read: the registry cannot be asked with a password"})
		}
	}
	warnings.Locate(origins)
	return warnings
}

// dryRun wires a configuration as the daemon does, without what it would open: see notChecked.
func dryRun(c config.Config) error {
	c = withoutCredentials(c)
	if _, err := checkCertificate(c.TLS); err != nil {
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
	c.Cache.Answers, c.Cache.Records, c.Cache.Responses = min(c.Cache.Answers, 1<<20), min(c.Cache.Records, 1<<20), min(c.Cache.Responses, 1<<20)
	d := newDependencies()
	r, err := newResolution(c, d.resolverDependencies)
	if err != nil {
		return err
	}
	defer r.close()
	s, err := newService(c, r, d)
	if err != nil {
		return err
	}
	defer s.close()
	_, err = newAdmin(c, r, s, d)
	return err
}

// checkCertificate returns the certificate of a configuration, nil where there is none.
func checkCertificate(c config.TLS) (*listen.Certificate, error) {
	if c.Certificate == "" || c.Key == "" {
		return nil, nil //nolint:nilnil // there is none, and nothing is wrong
	}
	certificate, err := newCertificate(c, time.Now)
	if err != nil {
		return nil, err
	}
	_, err = tlsConfig(c, func() (*listen.Certificate, error) { return certificate, nil })
	return certificate, err
}

// expiryOf says when the certificate of a configuration expires, "" where there is none.
func expiryOf(c config.Config, now time.Time) string {
	certificate, err := checkCertificate(withoutCredentials(c).TLS)
	if err != nil || certificate == nil {
		return ""
	}
	leaf, _ := certificate.Leaf()
	if notice := validity(leaf.NotBefore, leaf.NotAfter, now); notice != "" {
		return "warning: it " + notice
	}
	return "it expires at " + leaf.NotAfter.UTC().Format(time.RFC3339)
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
