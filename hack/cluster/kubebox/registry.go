package main

import (
	"fmt"
	"log"
	"net/http"
	"os"

	"github.com/google/go-containerregistry/pkg/registry"
)

// serveRegistry runs an image registry, empty at first and held in memory, at the
// address that is its only argument.
func serveRegistry() int {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: kubebox registry ADDRESS")
		return 2
	}
	images := registry.New(registry.Logger(log.New(os.Stderr, "", log.LstdFlags)))
	err := http.ListenAndServe(os.Args[1], images) // #nosec G114: only this machine's pods reach it
	fmt.Fprintf(os.Stderr, "serving images at %s: %v\n", os.Args[1], err)
	return 1
}
