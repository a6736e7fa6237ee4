package valkey

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	client "github.com/valkey-io/valkey-go"
)

// ServerInfo is the result of SelfTest.
type ServerInfo struct {
	Name, Version string
	RTT           time.Duration // the shorter of two queries
}

// The oldest usable version of Redis; every version of Valkey is usable.
const (
	oldestMajor = 6
	oldestMinor = 2
)

// SelfTest connects, and runs every command that urnd uses once. It must be called instead of Start, and leaves
// nothing at the server. It returns an error of Explain, like those that Report receives.
func (l *Level) SelfTest(ctx context.Context) (ServerInfo, error) {
	defer context.AfterFunc(ctx, l.end)()
	found, err := l.selfTest(ctx)
	if err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("%w: %w", ctx.Err(), err)
		}
		return found, Explain(err)
	}
	return found, nil
}

func (l *Level) selfTest(ctx context.Context) (found ServerInfo, err error) {
	if err := l.connect(ctx, 0); err != nil {
		return found, err
	}
	server := l.server.Load()
	if found, err = serverOf(ctx, server); err != nil {
		return found, err
	}
	if err := l.testCommands(ctx, server); err != nil {
		return found, err
	}
	for range 2 {
		started := l.config.Now()
		if _, err := l.head(ctx); err != nil {
			return found, err
		}
		if took := l.config.Now().Sub(started); found.RTT == 0 || took < found.RTT {
			found.RTT = took
		}
	}
	if found.RTT > l.config.Timeout {
		return found, fmt.Errorf("%w: takes %s, timeout %s", context.DeadlineExceeded, found.RTT, l.config.Timeout)
	}
	return found, nil
}

// testCommands runs the scripts and commands of a level: on the log, of which it only reads the end, and on a
// key of its own, whose lease it releases.
func (l *Level) testCommands(ctx context.Context, server client.Client) error {
	if _, err := l.head(ctx); err != nil {
		return err
	}
	if err := server.Do(ctx,
		server.B().Xrange().Key(l.logKey()).Start("-").End("-").Count(1).Build()).Error(); err != nil {
		return err
	}
	token := newToken()
	keys := []string{l.sealer.key("try", token), l.sealer.key("try lease", token), l.logKey()}
	if err := l.scripts.lookup.Exec(ctx, server, keys,
		[]string{token, milliseconds(leaseFor), ""}).Error(); err != nil {
		return err
	}
	return l.scripts.write.Exec(ctx, server, keys[:2], []string{token, "", "", ""}).Error()
}

// serverOf queries the version of the server. The error is errOld if it is too old.
func serverOf(ctx context.Context, server client.Client) (found ServerInfo, err error) {
	ctx, cancel := context.WithTimeout(ctx, connectFor)
	defer cancel()
	fields, err := server.Do(ctx, server.B().Hello().Build()).AsMap()
	if err != nil {
		return found, err
	}
	name, version := fields["server"], fields["version"]
	found.Name, _ = name.ToString() // servers other than Valkey and Redis may omit both
	found.Version, _ = version.ToString()
	if found.Name == "redis" && isOld(found.Version) {
		return found, fmt.Errorf("%w %s", errOld, found.Version)
	}
	return found, nil
}

func isOld(version string) bool {
	parts := strings.SplitN(version, ".", 3) //nolint:mnd // major, minor and the rest
	if len(parts) < 2 {                      //nolint:mnd // major and minor
		return false
	}
	major, err := strconv.Atoi(parts[0])
	minor, minorErr := strconv.Atoi(parts[1])
	return err == nil && minorErr == nil && (major < oldestMajor || major == oldestMajor && minor < oldestMinor)
}
