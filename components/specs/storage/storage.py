"""Storage classes of a region, one model per driver: an unknown parameter key would make every CreateVolume fail."""

from typing import Annotated

from pydantic import Field

from components.specs.storage.nfs import NfsClassSpec
from components.specs.storage.topolvm import TopolvmClassSpec
from components.specs.storage.vast import VastClassSpec

StorageClassSpec = Annotated[NfsClassSpec | VastClassSpec | TopolvmClassSpec, Field(discriminator="driver")]
