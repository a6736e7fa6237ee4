// Package systemd is a thin layer over go-systemd. From the service manager enter sockets, directories and
// credentials; notifications and log records with native journal fields leave. It follows sd_notify(3),
// sd_listen_fds(3), systemd.exec(5) and systemd.journal-fields(7). Without systemd its functions have no
// effect.
package systemd

import (
	"fmt"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
)

// Ready notifies systemd that the service is running, or running again after Reloading.
func Ready(status string) error { return notify(daemon.SdNotifyReady + "\nSTATUS=" + status) }

// Status sets the status text of the service.
func Status(status string) error { return notify("STATUS=" + status) }

// Reloading notifies systemd that the configuration is being reloaded; Ready ends the reload.
func Reloading() error {
	return notify(daemon.SdNotifyReloading + "\n" + daemon.SdNotifyMonotonicUsec())
}

// Stopping notifies systemd that the service is stopping.
func Stopping() error { return notify(daemon.SdNotifyStopping) }

// Alive resets the watchdog timer.
func Alive() error { return notify(daemon.SdNotifyWatchdog) }

// Watchdog returns the interval in which systemd expects Alive, 0 without a watchdog for this process.
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
