package valkey

import (
	"context"
	"errors"
	"net"

	client "github.com/valkey-io/valkey-go"
)

// errNoMaster means that the sentinels do not know the name master_set.
var errNoMaster = errors.New("no such master")

// mainServer queries the configured sentinels, one after another, for the address of the primary; it returns ""
// if none are configured. Sentinels have the same password as servers, or none, and no users.
//
// The sentinel client of the library is not used: it subscribes to notifications, splits them without checking
// the number of parts, and retains every sentinel that it was ever told of. Without it, a failover is detected
// when the server fails: sentinels close the connections to a server that is no longer the primary.
func (l *Level) mainServer(ctx context.Context) (main string, err error) {
	settings, err := options(l.config, nil)
	if err != nil || settings.Sentinel.MasterSet == "" {
		return "", err
	}
	var all []error
	for _, address := range settings.InitAddress {
		if main, err = l.askSentinel(ctx, address, settings.Sentinel.MasterSet); err == nil || ctx.Err() != nil {
			return main, err
		}
		all = append(all, err)
	}
	return "", errors.Join(all...)
}

func (l *Level) askSentinel(ctx context.Context, address, name string) (string, error) {
	opened := new(conns)
	settings, err := l.options(opened)
	if err != nil {
		return "", err
	}
	if l.config.Password != nil {
		settings.AuthCredentialsFn = credentials(l.config, "")
	}
	settings.InitAddress, settings.ForceSingleClient, settings.Sentinel.MasterSet = []string{address}, true, ""
	settings.Username, settings.SelectDB, settings.RingScaleEachConn = "", 0, 1
	sentinel, err := client.NewClient(settings)
	if sentinel != nil {
		defer sentinel.Close()
	}
	defer opened.close() // before sentinel.Close, which waits for replies
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, connectFor)
	defer cancel()
	at, err := sentinel.Do(ctx, sentinel.B().SentinelGetMasterAddrByName().Master(name).Build()).AsStrSlice()
	switch {
	case client.IsValkeyNil(err):
		return "", errNoMaster
	case err != nil:
		return "", err
	case len(at) != 2: //nolint:mnd // host and port
		return "", errReply
	}
	return net.JoinHostPort(at[0], at[1]), nil
}
