package config

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/internal/redact"
	"github.com/urnd/urnd/systemd"
)

// Wiring has the functions of the daemon that the check of a configuration needs.
type Wiring struct {
	// Try wires a configuration like the daemon, starts nothing, and closes everything again.
	Try func(c config.Config) error
	// Certificates reads the certificate files, and returns lines about their expiry.
	Certificates func(c config.TLS, now time.Time) ([]string, error)
	// Memory returns the memory limit of the program, 0 if unknown.
	Memory func() config.Size
	// Snapshot returns the path of the saved answers, "" if they are not saved.
	Snapshot func(c config.Cache) string
	// CheckLost returns an error if the registry's database file existed before and is missing.
	CheckLost func(c config.Config) error
	// Peers returns the servers in a configuration that can be tested.
	Peers func(c config.Config) []Peer
}

func newCheck(w Wiring) *cobra.Command {
	var dial bool
	cmd := &cobra.Command{
		Use:   "check [FILE]",
		Short: "Report all errors of a configuration file",
		Long: `Report all errors of a configuration file, with the environment applied to it.
The exit status is 0 if urnd would start with it, as far as can be determined without opening
anything: the command creates no files and no directories, takes no locks, does not listen
and does not connect, so that it can be run beside a running urnd. It reads the files of secrets
and certificates; checks that need more are listed as "not checked". The status is also 1 if
the settings allow more memory in total than limits.memory, if that is set.
With --dial it connects to the servers in the configuration: those of cache.shared and
the registry, the DNS servers and the trace collector, which gets one span. It reports for each
whether urnd could use it, changes nothing there, and the status is 1 if any of them
cannot be used.

Without FILE it checks the file of URND_CONFIG, or /etc/urnd/urnd.yaml if it exists.`,
		Example: "  urnd config check /etc/urnd/urnd.yaml\n  urnd config check --dial /etc/urnd/urnd.yaml",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			file, err := checkedFile(args)
			if err != nil {
				return err
			}
			c, origins, err := config.LoadOrigins(file, nil)
			if err != nil {
				return err
			}
			if err := w.Check(c); err != nil {
				return origins.Locate(err)
			}
			if failures := c.MemoryDiagnostics(0); len(failures) > 0 {
				return origins.Locate(failures)
			}
			warnings := Warnings(c, origins, w.Memory())
			if err := w.CheckLost(c); err != nil {
				lost := config.Diagnostics{{Path: "registry.store", Message: err.Error()}}
				lost.Locate(origins)
				warnings = append(warnings, lost...)
			}
			for _, warning := range warnings {
				fmt.Fprintf(cmd.ErrOrStderr(), "urnd: warning: %s\n", warning)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s is a valid configuration\n", file)
			// Errors were reported before: a credential of systemd is available to the service only.
			expiry, _ := w.Certificates(withoutCredentials(c).TLS, time.Now())
			for _, line := range expiry {
				fmt.Fprintln(cmd.OutOrStdout(), line)
			}
			var peers []Peer
			if dial {
				peers = w.Peers(withoutCredentials(c))
			}
			for _, line := range w.notChecked(c, peers) {
				fmt.Fprintf(cmd.OutOrStdout(), "not checked: %s\n", line)
			}
			return probePeer(cmd.Context(), cmd.OutOrStdout(), peers)
		},
	}
	cmd.Flags().BoolVar(&dial, "dial", false,
		"connect to the servers in the configuration, and report the result for each")
	return cmd
}

// checkedFile returns the file to check: the argument, or else the one that urnd serve would read. A check
// of no file would report the defaults as valid, which is probably not meant.
func checkedFile(args []string) (string, error) {
	if len(args) > 0 {
		return args[0], nil
	}
	file, err := cli.DefaultPath()
	if err == nil && file == "" {
		err = cli.Usage(errNoFile)
	}
	return file, err
}

var errNoFile = errors.New("there is no configuration file to check: write urnd config check FILE, or set " +
	cli.ConfigVariable)

// Warnings returns warnings about a valid configuration. memory is the memory limit of the program, 0 if
// unknown.
func Warnings(c config.Config, origins config.Origins, memory config.Size) config.Diagnostics {
	warnings := origins.Warnings(c)
	warnings = append(warnings, c.MemoryDiagnostics(memory)...)
	warnings = append(warnings, ofFiles(c)...)
	warnings.Locate(origins)
	return warnings
}

// Check returns the error with which the daemon would not start, as far as it can be detected without opening
// anything: see notChecked.
func (w Wiring) Check(c config.Config) error {
	c = withoutCredentials(c)
	if _, err := w.Certificates(c.TLS, time.Now()); err != nil {
		return err
	}
	for _, directory := range append(accessDirectories(c.Log),
		directory{"cache.disk_directory", diskDirectory(c.Cache)}) {
		if directory.path == "" {
			continue
		}
		info, err := os.Stat(directory.path)
		if errors.Is(err, fs.ErrPermission) {
			continue // notChecked reports it: directories of systemd are accessible to the service only
		} else if err != nil {
			return fmt.Errorf("%s: %w", directory.setting, err)
		} else if !info.IsDir() {
			return fmt.Errorf("%s: %s is not a directory", directory.setting, directory.path)
		}
	}
	c.Cache.Disk = 0 // opening the disk cache would create its directory and lock it
	// Minimize the caches: the check may run in the memory of the service, during a reload.
	for _, size := range []*config.Size{&c.Cache.Answers, &c.Cache.Records, &c.Cache.Responses} {
		*size = min(*size, 1<<20)
	}
	return w.Try(c)
}

// directory is a directory that a setting requires.
type directory struct{ setting, path string }

// accessDirectories returns the directories of access logs, which urnd does not create.
func accessDirectories(c config.Log) (all []directory) {
	for i, l := range c.Access {
		if l.File != "" {
			all = append(all, directory{config.AccessLogSetting(i) + ".file", filepath.Dir(l.File)})
		}
	}
	return all
}

// diskDirectory returns the directory of the disk cache; "" if it is not used or does not exist yet, since
// urnd creates it.
func diskDirectory(c config.Cache) string {
	if _, err := os.Stat(c.DiskDirectory); c.Disk == 0 || errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return c.DiskDirectory
}

// notChecked describes what only opening could check: listeners, files and directories that urnd writes to,
// credentials of systemd, and servers that were not tested.
func (w Wiring) notChecked(c config.Config, requested []Peer) []string {
	lines := []string{"listen: whether urnd can listen on its addresses"}
	add := func(setting, path string) {
		if path != "" {
			lines = append(lines, fmt.Sprintf("%s: whether urnd can write to %s", setting, path))
		}
	}
	if c.Cache.Disk > 0 && c.Cache.Responses > 0 {
		directory := c.Cache.DiskDirectory
		if directory == "" {
			directory = systemd.CacheDirectory()
		}
		if directory == "" {
			lines = append(lines,
				"cache.disk_directory: not set, and CacheDirectory of the systemd unit is known only to the service")
		}
		add("cache.disk_directory", directory)
	}
	add("cache.directory", w.Snapshot(c.Cache))
	lines = append(lines, directoryOfCertificates(c)...)
	if path, ok := cli.StoreFile(c.Registry.Store); ok {
		add("registry.store", path)
	}
	if len(c.File.Roots) > 0 {
		lines = append(lines, "file.roots: whether urnd can read "+strings.Join(c.File.Roots, ", "))
	}
	for i, l := range c.Log.Access {
		add(config.AccessLogSetting(i)+".file", l.File)
	}
	if c.Log.Format == "journald" {
		lines = append(lines, "log.format: whether the systemd journal is available")
	}
	if !systemd.HasCredentials() {
		for _, file := range c.SecretFiles() {
			if strings.HasPrefix(*file.Name, config.CredentialPrefix) {
				lines = append(lines, fmt.Sprintf("%s: %s, which systemd passes only to the service", file.Path,
					*file.Name))
			}
		}
	}
	servers := slices.DeleteFunc(serversOf(c), func(setting string) bool {
		return slices.ContainsFunc(requested, func(p Peer) bool { return p.Setting == setting })
	})
	if len(servers) > 0 {
		lines = append(lines, "whether the servers of these settings respond: "+strings.Join(servers, ", "))
	}
	return lines
}

// directoryOfCertificates describes the directory for certificates of an authority: without one urnd does not start.
func directoryOfCertificates(c config.Config) []string {
	switch directory := cmp.Or(c.Cache.Directory, systemd.StateDirectory()); {
	case !c.ACME.Enabled:
		return nil
	case directory == "":
		return []string{"acme.enabled: cache.directory is not set, and StateDirectory of the systemd unit is known " +
			"only to the service"}
	default:
		return []string{"acme.enabled: whether urnd can write to " + directory}
	}
}

// serversOf returns the settings that name servers.
func serversOf(c config.Config) []string {
	var settings []string
	_, inFile := cli.StoreFile(c.Registry.Store)
	for _, s := range []struct {
		setting string
		names   bool
	}{
		{"dns.servers", len(c.DNS.Servers) > 0},
		{"slp", c.SLP.Enabled()},
		{"registry.store", c.Registry.Store != "" && !inFile},
		{"cache.shared", c.Cache.Shared != ""},
		{"registry.replica", c.Registry.Replica != ""},
		{"cdn.webhooks", c.CDN.Tags != config.TagsOff && len(c.CDN.Webhooks) > 0},
		{"proxy.upstreams", len(c.Proxy.Upstreams) > 0},
		{"proxy.sites", len(c.Proxy.Sites) > 0},
		{"news.servers", c.Gateways.Has(config.ProtocolNews) && len(c.News.Servers) > 0},
		{"log.access", slices.ContainsFunc(c.Log.Access, func(l config.AccessLog) bool { return l.Syslog != "" })},
		{"telemetry.endpoint", c.Telemetry.Endpoint != ""},
		{"namespaces", slices.ContainsFunc(c.Namespaces, func(n config.Namespace) bool { return len(n.THTTP) > 0 })},
	} {
		if s.names {
			settings = append(settings, s.setting)
		}
	}
	return settings
}

// withoutCredentials returns a configuration without credentials of systemd, if systemd has not passed them
// to this process.
func withoutCredentials(c config.Config) config.Config {
	c.Proxy.Sites, c.Proxy.Upstreams = slices.Clone(c.Proxy.Sites), slices.Clone(c.Proxy.Upstreams)
	c.TLS.Certificates = slices.Clone(c.TLS.Certificates)
	for _, file := range c.SecretFiles() {
		if strings.HasPrefix(*file.Name, config.CredentialPrefix) && !systemd.HasCredentials() {
			*file.Name = ""
		}
	}
	c.TLS.Certificates = slices.DeleteFunc(c.TLS.Certificates,
		func(f config.CertificateFiles) bool { return f.Certificate == "" || f.Key == "" })
	for i := range c.Proxy.Sites {
		dropHalf(&c.Proxy.Sites[i].TLS)
	}
	for i := range c.Proxy.Upstreams {
		dropHalf(&c.Proxy.Upstreams[i].TLS)
	}
	return c
}

// dropHalf removes a certificate without key, and a key without certificate.
func dropHalf(c *config.ServerTLS) {
	if c.Certificate == "" || c.Key == "" {
		c.Certificate, c.Key = "", ""
	}
}

// Peer is a server that a configuration names.
type Peer struct {
	Setting, Where string
	// Probe connects to the server, and returns its description, or why it cannot be used. It returns soon
	// after ctx ends.
	Probe func(ctx context.Context) (found string, err error)
}

// answerWithin is the timeout for all servers, which are tested concurrently.
const answerWithin = 10 * time.Second

// probePeer tests all peers concurrently, and prints a line for each, in order. The error has the number of
// failures.
func probePeer(ctx context.Context, out io.Writer, peers []Peer) error {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	lines, failed := make([]string, len(peers)), make([]bool, len(peers))
	var all sync.WaitGroup
	for i, p := range peers {
		all.Go(func() {
			found, err := p.Probe(ctx)
			switch {
			case err != nil:
				lines[i], failed[i] = "unusable: "+err.Error(), true
			case found == "":
				lines[i] = "ok"
			default:
				lines[i] = "ok: " + found
			}
		})
	}
	all.Wait()
	failures := 0
	for i, p := range peers {
		fmt.Fprintf(out, "%s: %s\n", p.Setting, redact.URLs(p.Where+": "+lines[i]))
		if failed[i] {
			failures++
		}
	}
	if failures > 0 {
		return fmt.Errorf("%d of %d servers are unusable", failures, len(peers))
	}
	return nil
}
