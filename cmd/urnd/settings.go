package main

import (
	"github.com/spf13/cobra"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/resolver"
)

// settings are the flags that override the environment and the file.
type settings struct {
	cmd  *cobra.Command
	file string
}

// addFile gives cmd the flag --config.
func addFile(cmd *cobra.Command) *settings {
	s := &settings{cmd: cmd}
	cmd.Flags().StringVar(&s.file, "config", "", "read the configuration from this `file` (.yaml or .toml)")
	return s
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
	return config.LoadOrigins(s.file, changed)
}

// names returns the rules for names that the daemon would apply.
func (s *settings) names() (resolver.Names, error) {
	c, err := s.load(map[string]string{"urn.accept": "accept"})
	if err != nil {
		return resolver.Names{}, err
	}
	return namesOf(c)
}
