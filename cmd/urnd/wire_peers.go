package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/cli"
	cliconfig "github.com/urnd/urnd/internal/cli/config"
	"github.com/urnd/urnd/internal/cli/store"
	"github.com/urnd/urnd/internal/telemetry"
	"github.com/urnd/urnd/resolver/ddds"
)

// peersOf returns the servers of a configuration that can be asked whether urnd could use them, each in the way in which the daemon asks it.
func peersOf(c config.Config) []cliconfig.Peer {
	var peers []cliconfig.Peer
	if c.Cache.Shared != "" && c.Cache.SharedKey != "" { // without its credential, the password is missing, too
		peers = append(peers, cliconfig.Peer{Setting: "cache.shared", Where: c.Cache.Shared, Ask: func(ctx context.Context) (string, error) {
			return askShared(ctx, c.Cache)
		}})
	}
	if _, inFile := cli.StoreFile(c.Registry.Store); c.Registry.Store != "" && !inFile {
		peers = append(peers, registryPeer(c.Registry, "registry.store", c.Registry.Store, false))
		if c.Registry.Replica != "" {
			peers = append(peers, registryPeer(c.Registry, "registry.replica", c.Registry.Replica, true))
		}
	}
	for _, server := range dnsServers(c.DNS) {
		peers = append(peers, dnsPeer(c, "dns.servers", server, rootOf(c.DDDS), false))
	}
	for i, o := range c.DDDS.RootOptions {
		for _, server := range o.Servers {
			peers = append(peers, dnsPeer(c, fmt.Sprintf("ddds.root_options.%d.servers", i), server, o.Root, o.RequireDNSSEC))
		}
	}
	if c.Telemetry.Endpoint != "" {
		peers = append(peers, cliconfig.Peer{Setting: "telemetry.endpoint", Where: c.Telemetry.Endpoint, Ask: func(context.Context) (string, error) {
			return "", askCollector(c) //nolint:contextcheck // it has a shorter time of its own
		}})
	}
	return peers
}

// askShared asks the server of the second level.
func askShared(ctx context.Context, c config.Cache) (string, error) {
	level, err := newLevel(c, newResolverDependencies())
	if err != nil {
		return "", err
	}
	defer level.Close()
	found, err := level.Try(ctx)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s %s, which answers in %s", found.Name, found.Version, found.Took.Round(time.Microsecond)), nil
}

func registryPeer(c config.Registry, setting, url string, isReplica bool) cliconfig.Peer {
	return cliconfig.Peer{Setting: setting, Where: url, Ask: func(ctx context.Context) (string, error) {
		found, err := store.TryPostgres(ctx, c, isReplica)
		if err != nil {
			return "", err
		}
		text := "PostgreSQL " + found.Version
		switch {
		case found.Schema == 0:
			return text + ", without a registry: urnd makes it", nil
		case found.Schema < found.Current:
			text += fmt.Sprintf(", schema %d, of which urnd makes %d", found.Schema, found.Current)
		default:
			text += fmt.Sprintf(", schema %d", found.Schema)
		}
		if !found.Writable {
			text += ", only to read"
		}
		return text, nil
	}}
}

// rootOf returns the domain that servers are asked for: any answer will do.
func rootOf(c config.DDDS) string {
	if c.Enabled && len(c.Roots) > 0 {
		return c.Roots[0]
	}
	return "."
}

func dnsPeer(c config.Config, setting string, server config.Server, root string, requireAD bool) cliconfig.Peer {
	return cliconfig.Peer{Setting: setting, Where: server.String(), Ask: func(ctx context.Context) (string, error) {
		r := &resolution{limits: newLimits(c.Limits, nil)}
		defer r.close()
		return "", ddds.QueryRoot(newDNSClient(c, []config.Server{server}, requireAD, r, newResolverDependencies()), root)(ctx)
	}}
}

// askCollector sends a span to the collector of traces.
func askCollector(c config.Config) (err error) {
	settings := telemetryConfig(c)
	settings.Failed = func(failed error) { err = errors.Join(err, failed) }
	tracer, err := telemetry.New(settings)
	if err != nil {
		return err
	}
	now := time.Now()
	if span := tracer.Begin("config check", nil, now, false); span != nil {
		span.End(0, "config check", 0, nil, nil)
	}
	tracer.Close()
	return err
}
