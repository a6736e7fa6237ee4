// Package systemd is a thin layer over go-systemd: what the service manager passes on,
// and what it is told. Without systemd all of it does nothing.
package systemd

import (
	"fmt"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
)

// Ready says that the service runs, or runs again after Reloading.
func Ready(status string) error { return notify(daemon.SdNotifyReady + "\nSTATUS=" + status) }

// Status says in words how the service does.
func Status(status string) error { return notify("STATUS=" + status) }

// Reloading says that the configuration is read again; Ready ends it.
func Reloading() error {
	return notify(daemon.SdNotifyReloading + "\n" + daemon.SdNotifyMonotonicUsec())
}

// Stopping says that the service ends.
func Stopping() error { return notify(daemon.SdNotifyStopping) }

// Alive feeds the watchdog.
func Alive() error { return notify(daemon.SdNotifyWatchdog) }

// Watchdog returns how often Alive must be said, 0 where nobody listens.
func Watchdog() time.Duration {
	interval, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		return 0 // what it says is for another process
	}
	return interval
}

func notify(state string) error {
	if _, err := daemon.SdNotify(false, state); err != nil {
		return fmt.Errorf("telling systemd: %w", err)
	}
	return nil
}
