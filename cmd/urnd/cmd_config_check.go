package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/systemd"
)

func newConfigCheck() *cobra.Command {
	return &cobra.Command{
		Use:   "check FILE",
		Short: "Report all errors of a configuration file",
		Long: `Report all errors of a configuration file, with the environment applied to it.
The exit status is 0 if urnd would start with it, as far as can be checked without
listening; credentials that systemd passes on when it starts urnd are assumed to exist.`,
		Example: "  urnd config check /etc/urnd/urnd.yaml",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := config.Load(args[0], nil)
			if err != nil {
				return err
			}
			if err := dryRun(c); err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s is a valid configuration\n", args[0])
			return err
		},
	}
}

// dryRun does what the daemon does with a configuration before it listens.
// Credentials that only systemd can pass on are assumed to exist.
func dryRun(c config.Config) error {
	for _, secret := range []*string{&c.Access.AdminToken, &c.Access.ProxyUsers, &c.TLS.Certificate, &c.TLS.Key, &c.TLS.ClientCA} {
		if strings.HasPrefix(*secret, config.CredentialPrefix) && !systemd.HasCredentials() {
			*secret = ""
		}
	}
	if c.TLS.Certificate != "" && c.TLS.Key != "" {
		if _, err := tlsConfig(c.TLS, time.Now); err != nil {
			return err
		}
	}
	if directory := filepath.Dir(c.Log.AccessFile); c.Log.AccessFile != "" && c.Log.Access != "off" {
		if _, err := os.Stat(directory); err != nil {
			return fmt.Errorf("log.access_file: %w", err)
		}
	}
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
	_, err = newAdmin(c, r, d)
	return err
}
