package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/resolver"
)

// Settings are the flags of a command that override the environment and the configuration file.
type Settings struct {
	cmd     *cobra.Command
	file    string
	verbose bool
}

// defaultFile is the configuration file of the package. ConfigVariable is the environment variable that names
// another file.
const (
	defaultFile    = "/etc/urnd/urnd.yaml"
	ConfigVariable = "URND_CONFIG"
)

// AddFile adds the flags --config and --verbose to cmd.
func AddFile(cmd *cobra.Command) *Settings {
	s := &Settings{cmd: cmd}
	cmd.Flags().StringVar(&s.file, "config", "",
		"configuration `file` (.yaml or .toml); default: "+ConfigVariable+", or "+defaultFile+
			" if it exists; an empty name reads no file")
	cmd.Flags().BoolVar(&s.verbose, "verbose", false, "print which configuration is read")
	return s
}

// SettingsOf returns the settings of a command whose flags were parsed already; ok is false if it has no flag
// --config.
func SettingsOf(cmd *cobra.Command) (s *Settings, ok bool) {
	file, err := cmd.Flags().GetString("config")
	return &Settings{cmd: cmd, file: file}, err == nil
}

// Path returns the path of the configuration file, "" for none.
func (s *Settings) Path() (string, error) {
	if s.cmd.Flags().Changed("config") {
		return s.file, nil
	}
	return DefaultPath()
}

// DefaultPath returns the path of the configuration file without --config, "" for none.
func DefaultPath() (string, error) {
	if named, ok := os.LookupEnv(ConfigVariable); ok {
		return named, nil
	}
	switch _, err := os.Stat(defaultFile); {
	case err == nil:
		return defaultFile, nil
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	default:
		return "", fmt.Errorf("finding the configuration: %w", err)
	}
}

// AddSettings adds the flags of AddFile, and --dns, to cmd.
func AddSettings(cmd *cobra.Command) *Settings {
	s := AddFile(cmd)
	cmd.Flags().StringSlice("dns", nil, "DNS `servers`, IP addresses with or without port (dns.servers)")
	return s
}

// Load reads the configuration. flags maps paths of settings to names of flags, which override the settings
// if they were used; --dns is always included if the command has it.
func (s *Settings) Load(flags map[string]string) (config.Config, error) {
	c, _, err := s.LoadOrigins(flags)
	return c, err
}

// LoadOrigins is Load, and also returns the origin of each value.
func (s *Settings) LoadOrigins(flags map[string]string) (config.Config, config.Origins, error) {
	changed := make(map[string]any)
	flags = maps.Clone(flags)
	if flags == nil {
		flags = make(map[string]string)
	}
	flags["dns.servers"] = "dns"
	for path, name := range flags {
		s.addChanged(changed, path, name)
	}
	path, err := s.Path()
	if err != nil {
		return config.Config{}, config.Origins{}, err
	}
	if s.verbose {
		fmt.Fprintln(s.cmd.ErrOrStderr(), "urnd: "+describeFile(path))
	}
	c, origins, err := config.LoadOrigins(path, changed)
	return c, origins, s.named(err, flags)
}

// named sets the flag as the origin of each error in a value from a flag. If all errors are from flags, the
// result is a usage error.
func (s *Settings) named(err error, flags map[string]string) error {
	var failures config.Diagnostics
	if !errors.As(err, &failures) {
		return err
	}
	named := 0
	for i, f := range failures {
		for path, name := range flags {
			if flag := s.cmd.Flags().Lookup(name); flag != nil && flag.Changed &&
				strings.HasPrefix(f.Path+".", path+".") {
				failures[i].File = "--" + name
				named++
			}
		}
	}
	if named == len(failures) {
		return Usage(err)
	}
	return err
}

// addChanged adds the value of a flag to changed, by the path of its setting, if the command has the flag and
// it was used.
func (s *Settings) addChanged(changed map[string]any, path, name string) {
	flag := s.cmd.Flags().Lookup(name)
	if flag == nil || !flag.Changed {
		return
	}
	if list, err := s.cmd.Flags().GetStringSlice(name); err == nil {
		changed[path] = list
		return
	}
	changed[path] = flag.Value.String()
}

// describeFile describes the configuration that is read.
func describeFile(path string) string {
	if path == "" {
		return "no configuration file: the defaults and the environment"
	}
	return "configuration: " + path
}

// Names returns the rules for names that the daemon would apply. of returns the rules of a configuration.
func (s *Settings) Names(of NamesOf) (resolver.Names, error) {
	c, err := s.Load(map[string]string{"urn.accept": "accept"})
	if err != nil {
		return resolver.Names{}, err
	}
	return of(c)
}

// StoreFile returns the path of the registry's database file from the value of registry.store; ok is false
// for a database server, and for no store.
func StoreFile(store string) (path string, ok bool) { return strings.CutPrefix(store, "sqlite:") }

// NamesOf returns the rules for names of a configuration.
type NamesOf func(c config.Config) (resolver.Names, error)

// Resolution resolves names like a daemon with the same configuration. The caller calls Close.
type Resolution struct {
	Names    resolver.Names
	Resolver resolver.Resolver
	Close    func()
}

// OpenResolution opens the resolution of a configuration, with its registry. Errors that concern only the
// registry are printed to messages; other names are resolved nevertheless.
type OpenResolution func(ctx context.Context, c config.Config, messages io.Writer) (Resolution, error)
