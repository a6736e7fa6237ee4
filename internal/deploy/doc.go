// Package deploy tests the files in the folder deploy, by the types and programs that read them; it has no code but tests. The command
// image, below it, makes the image for containers.
//
// It is a module of its own so that those who build or import urnd do not have to download, trust and update what Kubernetes, Helm and
// Compose consist of. For the same reason "go test ./..." of urnd does not see it:
//
//	cd internal/deploy && go test ./...
package deploy
