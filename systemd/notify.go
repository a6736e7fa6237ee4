// Package systemd is a thin layer over go-systemd: sockets, directories and credentials
// from the service manager, notifications to it, and the journal. Without systemd its
// functions do nothing.
package systemd

import (
	"fmt"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
)

// Ready notifies systemd that the service runs, or runs again after Reloading.
func Ready(status string) error { return notify(daemon.SdNotifyReady + "\nSTATUS=" + status) }

// Status sends a text about the state of the service.
func Status(status string) error { return notify("STATUS=" + status) }

// Reloading notifies systemd that the configuration is being reloaded; Ready ends that.
func Reloading() error {
	return notify(daemon.SdNotifyReloading + "\n" + daemon.SdNotifyMonotonicUsec())
}

// Stopping notifies systemd that the service is stopping.
func Stopping() error { return notify(daemon.SdNotifyStopping) }

// Alive resets the watchdog timer.
func Alive() error { return notify(daemon.SdNotifyWatchdog) }

// Watchdog returns the interval in which systemd expects Alive, 0 if it has no watchdog
// for this process.
func Watchdog() time.Duration {
	interval, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		return 0 // the variables of systemd are invalid
	}
	return interval
}

func notify(state string) error {
	if _, err := daemon.SdNotify(false, state); err != nil {
		return fmt.Errorf("notifying systemd: %w", err)
	}
	return nil
}
