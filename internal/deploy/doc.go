// Package deploy tests the files in the folder deploy (Compose files, Kubernetes manifests, a Helm chart) with
// the types and programs that read them; it contains only tests. The files enter; violations of their schemas,
// of the urnd configuration and of the rules for unprivileged containers are reported. The command image, in
// the folder below, builds the container image.
//
// It is a separate module, so that those who build or import urnd do not have to download, trust and update the
// dependencies of Kubernetes, Helm and Compose. Therefore "go test ./..." in urnd does not include it:
//
//	cd internal/deploy && go test ./...
package deploy
