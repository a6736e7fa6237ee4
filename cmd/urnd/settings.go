package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/resolver"
)

// settings are the flags that override the environment and the file.
type settings struct {
	cmd     *cobra.Command
	file    string
	verbose bool
}

// defaultFile is the configuration of the package, and configVariable the environment variable
// that names another.
const (
	defaultFile    = "/etc/urnd/urnd.yaml"
	configVariable = "URND_CONFIG"
)

// addFile gives cmd the flags --config and --verbose.
func addFile(cmd *cobra.Command) *settings {
	s := &settings{cmd: cmd}
	cmd.Flags().StringVar(&s.file, "config", "", "read the configuration from this `file` (.yaml or .toml); default: that of "+configVariable+", or "+defaultFile+" where it exists; an empty name reads none")
	cmd.Flags().BoolVar(&s.verbose, "verbose", false, "say which configuration is read")
	return s
}

// path returns the configuration file to read, "" for none.
func (s *settings) path() (string, error) {
	if s.cmd.Flags().Changed("config") {
		return s.file, nil
	}
	if named, ok := os.LookupEnv(configVariable); ok {
		return named, nil
	}
	switch _, err := os.Stat(defaultFile); {
	case err == nil:
		return defaultFile, nil
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	default:
		return "", fmt.Errorf("looking for a configuration: %w", err)
	}
}

// addSettings gives cmd the flags --config and --dns.
func addSettings(cmd *cobra.Command) *settings {
	s := addFile(cmd)
	cmd.Flags().StringSlice("dns", nil, "DNS `servers`, IP addresses with or without port (dns.servers)")
	return s
}

// load reads the configuration. flags maps paths of settings to the names of flags, which
// override the settings where they were used.
func (s *settings) load(flags map[string]string) (config.Config, error) {
	c, _, err := s.loadOrigins(flags)
	return c, err
}

// loadOrigins is load, and returns the origin of each value.
func (s *settings) loadOrigins(flags map[string]string) (config.Config, config.Origins, error) {
	changed := make(map[string]any)
	flags["dns.servers"] = "dns"
	for path, name := range flags {
		flag := s.cmd.Flags().Lookup(name)
		if flag == nil || !flag.Changed {
			continue
		}
		if list, err := s.cmd.Flags().GetStringSlice(name); err == nil {
			changed[path] = list
			continue
		}
		changed[path] = flag.Value.String()
	}
	path, err := s.path()
	if err != nil {
		return config.Config{}, config.Origins{}, err
	}
	if s.verbose {
		fmt.Fprintln(s.cmd.ErrOrStderr(), "urnd: "+describeFile(path))
	}
	return config.LoadOrigins(path, changed)
}

// describeFile says which configuration is read.
func describeFile(path string) string {
	if path == "" {
		return "no configuration file: the defaults and the environment"
	}
	return "the configuration is " + path
}

// names returns the rules for names that the daemon would apply.
func (s *settings) names() (resolver.Names, error) {
	c, err := s.load(map[string]string{"urn.accept": "accept"})
	if err != nil {
		return resolver.Names{}, err
	}
	return namesOf(c)
}
