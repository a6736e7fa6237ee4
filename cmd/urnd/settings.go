package main

import (
	"github.com/spf13/cobra"

	"github.com/urnd/urnd/config"
)

// settings are the flags that go before the environment and the file.
type settings struct {
	cmd  *cobra.Command
	file string
}

// addSettings gives cmd the flags --config and --dns.
func addSettings(cmd *cobra.Command) *settings {
	s := &settings{cmd: cmd}
	cmd.Flags().StringVar(&s.file, "config", "", "read the configuration from this `file` (.yaml or .toml)")
	cmd.Flags().StringSlice("dns", nil, "DNS `servers` to ask, IP addresses with or without port (dns.servers)")
	return s
}

// load reads the configuration, with the given flags by the path of their
// setting, as far as they were used.
func (s *settings) load(flags map[string]string) (config.Config, error) {
	changed := make(map[string]any)
	flags["dns.servers"] = "dns"
	for path, name := range flags {
		flag := s.cmd.Flags().Lookup(name)
		if !flag.Changed {
			continue
		}
		if list, err := s.cmd.Flags().GetStringSlice(name); err == nil {
			changed[path] = list
			continue
		}
		changed[path] = flag.Value.String()
	}
	return config.Load(s.file, changed)
}
