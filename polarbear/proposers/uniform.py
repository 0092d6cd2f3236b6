"""Configurations that are drawn uniformly from their spaces."""

from polarbear.proposers.base import (
    MAX_REPEATED_DRAWS,
    Proposed,
    Proposer,
    Request,
    algorithms_in_turn,
    rng_of,
)


class Uniform(Proposer):
    """Configurations drawn uniformly from the space, whatever the present set is."""

    def propose(self, request: Request) -> list[Proposed]:
        rng = rng_of(request)
        proposals: list[Proposed] = []
        for name in algorithms_in_turn(request):
            space = request.spaces[name].space
            for _ in range(MAX_REPEATED_DRAWS):
                values = space.draw(rng)
                if request.is_new(name, values, proposals):
                    proposals.append(Proposed(name, values))
                    break
        return proposals
