"""Sends a push to every token of a file with Google's own SDK and prints how many a second it managed.

usage: firebase_peer.py TOKENS URL, with an access token in PUSH_ACCESS_TOKEN
"""
import datetime
import os
import sys
import time

import firebase_admin
from firebase_admin import credentials, messaging
from google.oauth2.credentials import Credentials

BATCH = 500  # the most that send_each takes


class Fixed(credentials.Base):
    """An access token that is there already: what is measured is sending."""

    def get_credential(self):
        hour = datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None) + datetime.timedelta(hours=1)
        return Credentials(os.environ["PUSH_ACCESS_TOKEN"], expiry=hour)


def message(token):
    alert = messaging.ApsAlert(title="PhotoShare", body="New photos added to your event!")
    aps = messaging.Aps(alert=alert, badge=7, sound="default", mutable_content=True)
    headers = {"apns-priority": "10", "apns-push-type": "alert", "apns-collapse-id": "event:bench"}
    return messaging.Message(
        token=token,
        notification=messaging.Notification(title="PhotoShare", body="New photos added to your event!"),
        data={"event_id": "bench", "action": "new_photos"},
        android=messaging.AndroidConfig(
            priority="high", ttl=3600,
            notification=messaging.AndroidNotification(tag="event:bench", channel_id="event_photos")),
        apns=messaging.APNSConfig(headers=headers, payload=messaging.APNSPayload(aps=aps)))


with open(sys.argv[1], encoding="ascii") as file:
    tokens = file.read().split()
messaging._MessagingService.FCM_URL = sys.argv[2].replace("heliograph-dev", "{0}")
firebase_admin.initialize_app(Fixed(), {"projectId": "heliograph-dev"})
messages = [message(token) for token in tokens]
messaging.send_each(messages[:BATCH])  # connections and caches
start = time.monotonic()
for index in range(0, len(messages), BATCH):
    answer = messaging.send_each(messages[index:index + BATCH])
    assert answer.failure_count == 0, answer.responses[0].exception
print(len(messages) / (time.monotonic() - start))
