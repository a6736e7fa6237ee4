package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/cli/cache"
	cliconfig "github.com/urnd/urnd/internal/cli/config"
	"github.com/urnd/urnd/proxy/admin"
	"github.com/urnd/urnd/proxy/listen"
)

// serviceCommands returns the commands that serve, ask an urnd that serves, or need to know how it does.
func serviceCommands() []*cobra.Command {
	return []*cobra.Command{
		newServe(), newAccess(), cache.Command(admin.HasResponses),
		cliconfig.Command(checkWiring()),
	}
}

// checkWiring returns what the check of a configuration needs.
func checkWiring() cliconfig.Wiring {
	return cliconfig.Wiring{Try: try, Certificate: expiryOf, Memory: availableMemory, Snapshot: snapshotPath}
}

// try wires a configuration as the daemon does, and starts nothing.
func try(c config.Config) error {
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
func expiryOf(c config.TLS, now time.Time) (string, error) {
	certificate, err := checkCertificate(c)
	if err != nil || certificate == nil {
		return "", err
	}
	leaf, _ := certificate.Leaf()
	if notice := validity(leaf.NotBefore, leaf.NotAfter, now); notice != "" {
		return "warning: it " + notice, nil
	}
	return "it expires at " + leaf.NotAfter.UTC().Format(time.RFC3339), nil
}
