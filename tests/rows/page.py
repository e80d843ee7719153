#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The page of boxes in a headless Chromium: python3 tests/rows/page.py PAGE.html BOXES.json SAVED.json [PICTURE.png]

PAGE is the page of examples/clip.mp4 or a copy in 640x360 at 25 frames a second, with the one box of BOXES. A box is
moved, resized, added, named, cut and deleted by the mouse and the keyboard, undone and saved. What the browser saves goes
to SAVED, and has to be what follows from the steps. PICTURE is a screenshot. 77 is the status where Chromium or its
driver is missing.
"""
import base64
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

WIDTH, HEIGHT, RATE = 640, 360, 25
ELEMENT = 'element-6066-11e4-a52e-4f735466cecf'
KEYS = {'ctrl': '\ue009', 'shift': '\ue008', 'enter': '\ue007', 'delete': '\ue017', 'left': '\ue012', 'right': '\ue014',
        'down': '\ue015', 'tab': '\ue004', 'alt': '\ue00a'}


class Browser:
    """A session of chromedriver, by the WebDriver protocol."""

    def __init__(self, folder):
        with socket.socket() as free:
            free.bind(('127.0.0.1', 0))
            port = free.getsockname()[1]
        self.url = 'http://127.0.0.1:%d' % port
        self.driver = subprocess.Popen(['chromedriver', '--port=%d' % port], stdout=subprocess.DEVNULL)
        self.session = ''
        for _ in range(100):
            try:
                if self.call('GET', '/status')['ready']:
                    break
            except OSError:
                time.sleep(0.1)
        options = {'args': ['--headless=new', '--no-sandbox', '--disable-gpu', '--window-size=1280,860',
                            '--user-data-dir=' + os.path.join(folder, 'profile')],
                   'binary': shutil.which('chromium')}
        self.session = '/session/' + self.call('POST', '/session', {'capabilities': {'alwaysMatch': {
            'browserName': 'chrome', 'unhandledPromptBehavior': 'accept', 'goog:chromeOptions': options}}})['sessionId']
        self.call('POST', '/goog/cdp/execute', {'cmd': 'Browser.setDownloadBehavior', 'params': {
            'behavior': 'allow', 'downloadPath': folder}})

    def call(self, method, path, value=None):
        request = urllib.request.Request(self.url + self.session + path, method=method,
                                         data=None if value is None else json.dumps(value).encode())
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)['value']
        except urllib.error.HTTPError as error:
            sys.exit('%s: %s' % (path, json.load(error)['value']['message']))

    def run(self, script, *values):
        return self.call('POST', '/execute/sync', {'script': script, 'args': list(values)})

    def wait(self, condition, what):
        for _ in range(200):
            if self.run('return ' + condition):
                return
            time.sleep(0.05)
        sys.exit('the page does not come to this: ' + what)

    def find(self, selector):
        return self.call('POST', '/element', {'using': 'css selector', 'value': selector})[ELEMENT]

    def click(self, selector):
        self.call('POST', '/element/%s/click' % self.find(selector), {})

    def drag(self, *points, key=None):
        """Presses the mouse at the first point of the window, moves it over all others, and lets go."""
        moves = [{'type': 'pointerMove', 'duration': 30, 'x': round(x), 'y': round(y)} for x, y in points]
        mouse = [moves[0], {'type': 'pointerDown', 'button': 0}] + moves[1:] + [{'type': 'pointerUp', 'button': 0}]
        actions = [{'type': 'pointer', 'id': 'mouse', 'parameters': {'pointerType': 'mouse'}, 'actions': mouse}]
        if key:
            held = [{'type': 'keyDown', 'value': KEYS[key]}] + [{'type': 'pause', 'duration': 0}] * (len(mouse) - 2)
            actions.append({'type': 'key', 'id': 'held', 'actions': held + [{'type': 'keyUp', 'value': KEYS[key]}]})
        self.call('POST', '/actions', {'actions': actions})

    def press(self, *keys):
        """Presses keys together: the last one while the others are held."""
        codes = [KEYS.get(key, key) for key in keys]
        self.call('POST', '/actions', {'actions': [{'type': 'key', 'id': 'keys', 'actions':
                  [{'type': 'keyDown', 'value': code} for code in codes]
                  + [{'type': 'keyUp', 'value': code} for code in reversed(codes)]}]})

    def picture(self, file):
        pathlib.Path(file).write_bytes(base64.b64decode(self.call('GET', '/screenshot')))

    def close(self):
        self.call('DELETE', '')
        self.driver.terminate()
        self.driver.wait()


class Page:
    """The page, and where the pixels of the film lie in the window."""

    def __init__(self, browser, page):
        self.browser = browser
        browser.call('POST', '/url', {'url': pathlib.Path(page).resolve().as_uri()})
        area = browser.run('const r = document.getElementById("boxes").getBoundingClientRect();'
                           'return [r.left, r.top, r.width, r.height]')
        self.scale = min(area[2] / WIDTH, area[3] / HEIGHT)
        self.left = area[0] + (area[2] - WIDTH * self.scale) / 2
        self.top = area[1] + (area[3] - HEIGHT * self.scale) / 2

    def at(self, x, y):
        return self.left + x * self.scale, self.top + y * self.scale

    def go_to(self, frame):
        """Goes from the beginning to a frame, by keys."""
        for _ in range(10):
            self.browser.press('shift', '<')
        for _ in range(frame // RATE):
            self.browser.press('shift', '>')
        for _ in range(frame % RATE):
            self.browser.press('.')
        self.browser.wait('document.getElementById("time").textContent.includes(", frame %d")' % frame, 'frame %d' % frame)
        self.browser.wait('!document.getElementById("film").seeking', 'the film at frame %d' % frame)


def box_at(track, moment):
    """The box of a track at a time, as plain as can be."""
    for a, b in zip(track, track[1:]):
        if a['time'] <= moment <= b['time']:
            share = (moment - a['time']) / (b['time'] - a['time'])
            return {name: a[name] + (b[name] - a[name]) * share for name in a}
    return dict(track[0] if moment < track[0]['time'] else track[-1])


def differences(found, expected, tolerance, place=''):
    """What differs between two values of JSON; numbers may differ by tolerance."""
    if isinstance(expected, dict) and isinstance(found, dict) and list(found) == list(expected):
        return [line for name in expected for line in differences(found[name], expected[name], tolerance, place + '/' + name)]
    if isinstance(expected, list) and isinstance(found, list) and len(found) == len(expected):
        return [line for index, pair in enumerate(zip(found, expected))
                for line in differences(*pair, tolerance, '%s/%d' % (place, index))]
    numbers = isinstance(expected, (int, float)) and isinstance(found, (int, float))
    limit = 1e-6 if place.endswith('time') else tolerance
    if found == expected or (numbers and abs(found - expected) <= limit):
        return []
    return ['%s is %s and should be %s' % (place, json.dumps(found), json.dumps(expected))]


def save(browser, folder, key=True):
    """What the browser saves, as text."""
    if key:
        browser.press('ctrl', 's')
    else:
        browser.click('#save')
    for _ in range(200):
        files = [file for file in pathlib.Path(folder).iterdir() if file.suffix == '.json']
        if files:
            time.sleep(0.1)
            text = files[0].read_text(encoding='utf-8')
            files[0].unlink()
            return text
        time.sleep(0.05)
    return sys.exit('the browser saved no file')


def change(browser, page, boxes):
    """Changes boxes in the page, and returns what they have to be then."""
    track = boxes['face'][0]
    # Move: a keyframe at 2 s, in the middle of the track.
    page.go_to(50)
    box = box_at(track, 2)
    middle = box['x'] + box['width'] / 2, box['y'] + box['height'] / 2
    browser.drag(page.at(*middle), page.at(middle[0] + 10, middle[1] + 5), page.at(middle[0] + 24, middle[1] + 12))
    moved = {**box, 'time': 2, 'x': box['x'] + 24, 'y': box['y'] + 12}
    track.insert(1, moved)
    # Resize: the right edge by 16, then the lower left corner.
    right = moved['x'] + moved['width'], moved['y'] + moved['height'] / 2
    browser.drag(page.at(*right), page.at(right[0] + 16, right[1]))
    moved['width'] += 16
    corner = moved['x'], moved['y'] + moved['height']
    browser.drag(page.at(*corner), page.at(corner[0] - 8, corner[1] + 10))
    moved.update(x=moved['x'] - 8, width=moved['width'] + 8, height=moved['height'] + 10)
    # By keys: one to the left, ten down; the edges by two.
    browser.press('left')
    browser.press('shift', 'down')
    browser.press('alt', 'right')
    moved.update(x=moved['x'] - 1, y=moved['y'] + 10, width=moved['width'] + 1)
    # Add by the mouse, name it, and let it end half a second later, 20 pixels to the right.
    browser.drag(page.at(500, 60), page.at(540, 90), page.at(580, 110))
    fields = '#list tr:last-child input'
    browser.click(fields)
    browser.press('ctrl', 'a')
    for letter in 'plate "7"':
        browser.press(letter)
    browser.press('enter')
    plate = {'x': 500, 'y': 60, 'width': 80, 'height': 50}
    page.go_to(62)
    middle = page.at(540, 85)
    browser.drag(middle, (middle[0] + 20 * page.scale, middle[1]))
    browser.press('o')
    boxes['plate "7"'] = [[{'time': 2, **plate}, {'time': 2.48, **plate, 'x': 520}]]
    # Shift moves a box in all its keyframes.
    middle = page.at(560, 85)
    browser.drag(middle, (middle[0] + 5 * page.scale, middle[1] + 30 * page.scale), key='shift')
    for key in boxes['plate "7"'][0]:
        key.update(x=key['x'] + 5, y=key['y'] + 30)
    # A box that is added by a key is deleted, comes back, and goes again.
    browser.press('n')
    count = 'document.querySelectorAll("#list tr").length === %d'
    browser.wait(count % 3, 'three boxes after n')
    browser.press('delete')
    browser.wait(count % 2, 'two boxes after delete')
    browser.press('ctrl', 'z')
    browser.wait(count % 3, 'three boxes after undo')
    browser.press('ctrl', 'y')
    browser.wait(count % 2, 'two boxes after redo')
    return boxes


def main():
    if not shutil.which('chromium') or not shutil.which('chromedriver'):
        print("Debian's chromium and chromium-driver are needed")
        sys.exit(77)
    page_file, boxes_file, saved_file = sys.argv[1:4]
    text = pathlib.Path(page_file).read_text(encoding='utf-8')
    faults = ['the page names an address: ' + address for address in re.findall(r'\w+://[^\s"\']+', text)
              if not address.startswith('file://')]
    boxes = json.loads(pathlib.Path(boxes_file).read_text(encoding='utf-8'))
    with tempfile.TemporaryDirectory() as folder:
        browser = Browser(folder)
        try:
            page = Page(browser, page_file)
            browser.wait('document.getElementById("film").readyState > 1', 'the film plays')
            # What is saved unchanged is the file, and a film that plays comes to its end.
            faults += differences(json.loads(save(browser, folder, key=False)), boxes, 0)
            expected = change(browser, page, boxes)
            if len(sys.argv) > 4:
                browser.picture(sys.argv[4])
            saved = save(browser, folder)
            pathlib.Path(saved_file).write_text(saved, encoding='utf-8')
            # The mouse goes by whole pixels of the window, in up to three drags.
            faults += differences(json.loads(saved), expected, 3 / page.scale)
            browser.run('document.getElementById("film").playbackRate = 4')
            browser.press(' ')
            browser.wait('document.getElementById("film").ended', 'the film ends')
            # The file comes back through "Open boxes"; another file is refused with what is wrong.
            browser.call('POST', '/element/%s/value' % browser.find('#open-boxes'), {'text': str(pathlib.Path(saved_file).resolve())})
            time.sleep(0.2)
            if save(browser, folder) != saved:
                faults.append('a file that is opened and saved again differs')
            bad = pathlib.Path(folder) / 'bad.txt'
            bad.write_text('{ "face": [ [ { "time": 1 } ] ] }', encoding='utf-8')
            browser.call('POST', '/element/%s/value' % browser.find('#open-boxes'), {'text': str(bad)})
            browser.wait('document.getElementById("told").textContent.includes("keyframe 1: time, x, y, width and height")',
                         'a message about a file of another form')
            # A film that no browser plays.
            other = pathlib.Path(folder) / 'other.html'
            other.write_text(re.sub(r'"film": "[^"]*"', '"film": "other.html"', text), encoding='utf-8')
            Page(browser, other)
            browser.wait('document.getElementById("fault").textContent.includes("cannot play")', 'a message about the film')
        finally:
            browser.close()
    print('\n'.join(faults) or 'boxes were moved, resized, added, named, cut, deleted and saved as they should be')
    sys.exit(bool(faults))


if __name__ == '__main__':
    main()
