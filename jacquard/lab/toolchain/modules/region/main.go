// Command registry is CNCF distribution with storage in files only. Upstream's command also contains the SDKs of clouds,
// which take most of the time of its build.
package main

import (
	"log"

	"github.com/distribution/distribution/v3/registry"
	_ "github.com/distribution/distribution/v3/registry/storage/driver/filesystem"
)

func main() {
	if err := registry.RootCmd.Execute(); err != nil {
		log.Fatal(err)
	}
}
