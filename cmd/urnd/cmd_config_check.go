package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
			c, origins, err := config.LoadOrigins(args[0], nil)
			if err != nil {
				return err
			}
			if err := dryRun(c); err != nil {
				return origins.Locate(err)
			}
			for _, warning := range warningsOf(c, origins) {
				fmt.Fprintf(cmd.ErrOrStderr(), "urnd: warning: %s\n", warning)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s is a valid configuration\n", args[0])
			return err
		},
	}
}

// warningsOf returns what is valid in a configuration, and probably not meant.
func warningsOf(c config.Config, origins config.Origins) config.Faults {
	warnings := c.Warnings()
	if c.Listen.RedirectTLS && len(c.Listen.TLS) == 0 {
		warnings = append(warnings, config.Fault{Path: "listen.redirect_tls", Message: "without listen.tls it needs urnd-https.socket, or urnd does not start"})
	}
	secrets := []struct{ setting, name string }{
		{"access.admin_token", c.Access.AdminToken}, {"access.proxy_users", c.Access.ProxyUsers}, {"tls.key", c.TLS.Key},
	}
	for i, o := range c.Proxy.Origins {
		secrets = append(secrets, struct{ setting, name string }{fmt.Sprintf("proxy.origins.%d.tls.key", i), o.TLS.Key})
	}
	for i, u := range c.Proxy.Upstreams {
		secrets = append(secrets, struct{ setting, name string }{fmt.Sprintf("proxy.upstreams.%d.tls.key", i), u.TLS.Key})
	}
	for _, secret := range secrets {
		if secret.name == "" || strings.HasPrefix(secret.name, config.CredentialPrefix) {
			continue
		}
		const others = 0o004
		if info, err := os.Stat(secret.name); err == nil && info.Mode()&others != 0 {
			warnings = append(warnings, config.Fault{Path: secret.setting, Message: fmt.Sprintf("all users of this machine can read %s (chmod o-r)", secret.name)})
		}
	}
	warnings.Locate(origins)
	return warnings
}

// checkable returns TLS with a server without the files that only systemd can pass on.
func checkable(c config.ServerTLS) config.ServerTLS {
	isPassed := func(name string) bool {
		return strings.HasPrefix(name, config.CredentialPrefix) && !systemd.HasCredentials()
	}
	if isPassed(c.CA) {
		c.CA = ""
	}
	if isPassed(c.Certificate) || isPassed(c.Key) {
		c.Certificate, c.Key = "", ""
	}
	return c
}

// dryRun does what the daemon does with a configuration before it listens.
// Credentials that only systemd can pass on are assumed to exist.
func dryRun(c config.Config) error {
	for _, secret := range []*string{&c.Access.AdminToken, &c.Access.ProxyUsers, &c.TLS.Certificate, &c.TLS.Key, &c.TLS.ClientCA, &c.News.Login} {
		if strings.HasPrefix(*secret, config.CredentialPrefix) && !systemd.HasCredentials() {
			*secret = ""
		}
	}
	c.Proxy.Origins, c.Proxy.Upstreams = slices.Clone(c.Proxy.Origins), slices.Clone(c.Proxy.Upstreams)
	for i := range c.Proxy.Origins {
		c.Proxy.Origins[i].TLS = checkable(c.Proxy.Origins[i].TLS)
	}
	for i := range c.Proxy.Upstreams {
		c.Proxy.Upstreams[i].TLS = checkable(c.Proxy.Upstreams[i].TLS)
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
	_, err = newAdmin(c, r, s, d)
	return err
}
