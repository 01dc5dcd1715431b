#!/usr/bin/env python3
"""The server of a shop: tells customers of parcels and sales, and erases an account when its owner asks for it.

Settings: HELIOGRAPH_URL, HELIOGRAPH_API_KEY, and HELIOGRAPH_ISSUER if the installation has another PUBLIC_URL.
"""

import argparse, datetime, inspect, json, os, sys, time

from heliograph import APIError, Heliograph, InvalidReceipt


def shipped(api, order, user):
    """Pushes at once to the phones of a customer."""
    return api.notify("order.shipped", dedupe_key=f"shipped-{order}", user_ids=[user], title="On its way", sound="default",
                      body=f"Parcel {order} arrives tomorrow.", data={"order": order}, collapse_key=f"order-{order}")


def sale(api, topic, at, text):
    """Pushes to the members of a topic at a time of the next 30 days, such as 2030-01-31T09:00+01:00."""
    start = datetime.datetime.fromisoformat(at)
    return api.notify("sale", dedupe_key=f"sale-{topic}-{at}", topic=topic, not_before=start, title="Sale", body=text)


def forget(api, user, folder):
    """Erases an account, and keeps its receipt in a folder. After a crash the same command continues."""
    # Opened before the erasure begins: only its answer has the receipt_token, so a missing folder must show first.
    with open(f"{folder}/{user}.json", "a+", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        file.seek(0)
        text = file.read()
        erasure = json.loads(text) if text else api.erase(user)
        if not text:
            json.dump(erasure, file)
    while (receipt := api.receipt(erasure)) is None:
        time.sleep(5)
    claims = api.verify(receipt, user)
    with open(f"{folder}/{user}.receipt", "w") as file:
        file.write(receipt)
    return claims


def verify(api, user, folder):
    """Verifies the receipt in a folder once more."""
    with open(f"{folder}/{user}.receipt") as file:
        return api.verify(file.read(), user)


COMMANDS = {
    "shipped": shipped, "sale": sale, "state": Heliograph.notification, "cancel": Heliograph.cancel, "forget": forget, "verify": verify}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, action in COMMANDS.items():
        command = commands.add_parser(name, help=action.__doc__)
        for parameter in list(inspect.signature(action).parameters)[1:]:
            command.add_argument(parameter)
    arguments = vars(parser.parse_args())
    try:
        api = Heliograph(os.environ["HELIOGRAPH_URL"], os.environ["HELIOGRAPH_API_KEY"], issuer=os.environ.get("HELIOGRAPH_ISSUER"))
        print(json.dumps(COMMANDS[arguments.pop("command")](api, **arguments), indent=2))
    except KeyError as error:
        sys.exit(f"shop: {error} is not set")
    except (APIError, InvalidReceipt, OSError, ValueError) as error:
        sys.exit(f"shop: {error}")
