package daemon

// logNotifyError logs the error of a notification of systemd, which is not fatal.
func (d *Daemon) logNotifyError(err error) {
	if err != nil {
		d.log().Debug("systemd was not notified", "error", err)
	}
}

// status returns the status text for systemd.
func (d *Daemon) status() string {
	status := d.config.Status()
	if refused := d.config.Health.refusal(); refused != nil {
		return "Reload refused: " + firstLine(refused) + "; " + status
	}
	return status
}
