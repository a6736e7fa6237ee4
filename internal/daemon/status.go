package daemon

// notified takes the error of telling systemd something: it is no reason to stop.
func (d *Daemon) logNotifyError(err error) {
	if err != nil {
		d.log().Debug("systemd was not notified", "error", err)
	}
}

// status describes in words how the service does.
func (d *Daemon) status() string {
	status := d.config.Status()
	if refused := d.config.Health.refusal(); refused != nil {
		return "Reload refused: " + firstLine(refused) + "; " + status
	}
	return status
}
