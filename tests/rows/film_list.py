# SPDX-License-Identifier: LGPL-2.1-or-later
"""The films of films.py: how ffmpeg makes each, to which container the film goes, and what cannot be kept, with the reason.

A recipe is ffmpeg's arguments without the output. The files that recipes name (cover.jpg, de.srt and so on) are made first.
`known` maps the beginning of a deviation, a regular expression, to its reason; what no entry explains is a fault.
"""
import struct

PICTURE = '-f lavfi -i testsrc2=s=320x180:r=25:d=1.2 '
LARGER = '-f lavfi -i testsrc2=s=720x576:r=25:d=0.6 '
# How loud the sound is swings faster and faster, so that a sound that is moved is not like itself.
SOUND = '-f lavfi -i aevalsrc=0.5*sin(2765*t)*(0.5+0.5*sin(40*t*t)):s=48000:d=1.2 '
SOUND2 = '-f lavfi -i aevalsrc=0.4*sin(4147*t)*(0.5+0.5*sin(55*t*t)):s=48000:d=1.2 '
H264 = '-c:v libx264 -preset veryfast -crf 16 -pix_fmt yuv420p '
H264_ = '-c:v libx264 -preset veryfast -crf 16 '  # with a pixel format that follows
H265 = '-c:v libx265 -preset ultrafast -crf 14 -x265-params log-level=error:pools=1'  # with parameters that follow
VP9 = '-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -crf 12 -b:v 0 '
FFV1 = '-c:v ffv1 '
AAC = '-c:a aac -b:a 128k '
OPUS = '-c:a libopus -b:a 96k '
MP3 = '-c:a libmp3lame -b:a 128k '
RECORDED = ('-movflags use_metadata_tags -metadata creation_time=2019-05-06T07:08:09Z -metadata com.apple.quicktime.make=Apple '
            '-metadata com.apple.quicktime.model="iPhone 12" -metadata com.apple.quicktime.location.ISO6709=+48.1+011.5/ ')
TITLES = '-metadata title="Sommer am See" -metadata artist=Ömer -metadata comment=kept '

# What holds for every film.
ALWAYS = {
    'turn: the matrix': 'the picture itself is turned',
    r'sound \d: packets: 1 at the beginning and 0 at the end': 'the first packet of sound, before time 0, is left out',
    r'sound \d: packets: 0 at the beginning and 1 at the end': 'the last packet of sound, of 5 ms, is left out',
    r'sound \d: packets: 1 at the beginning and 1 at the end': 'the first packet of sound, before time 0, and the last one, of 5 ms, '
                                                              'are left out',
}


CUT = {'(frames|duration|rate)': 'the frame that the cut goes through stays',
       '(times|sound 1: )': 'sound that the cut goes through stays, or not'}
COMMENT = 'GStreamer looks for COMMENTS in Matroska, and ffmpeg writes COMMENT (not told)'


def anew(codec, container):
    """Sound that has to be encoded."""
    known = {'sound 1: codec': '%s takes no %s: the sound is encoded anew' % (container, codec)}
    if container == 'MP4':
        known['sound 1: sync'] = 'the delay of the AAC encoder, 21 ms, is not taken off'
    return known


def turn(degrees, mirrored=False):
    """Writes the matrix of a display that is turned clockwise into the first track of an mp4 or mov film."""
    def patch(data):
        cos, sin = {0: (1, 0), 90: (0, 1), 180: (-1, 0), 270: (0, -1)}[degrees]
        one = -1 if mirrored else 1
        matrix = [one * cos, one * sin, 0, -sin, cos, 0, 0, 0, 1]
        at = data.index(b'tkhd') + 4 + 40
        values = [value << (30 if i % 3 == 2 else 16) for i, value in enumerate(matrix)]
        return data[:at] + struct.pack('>9i', *values) + data[at + 36:]
    return patch


def overwrite(data):
    """Bytes of the middle become other ones."""
    at = len(data) // 2
    return data[:at] + bytes((i * 37 + 11) % 251 for i in range(600)) + data[at + 600:]


def emptied(data):
    """Zeros take the place of some pictures, but not of what says where these are."""
    at = len(data) // 2
    return data[:at] + bytes(8000) + data[at + 8000:]


def half(data):
    return data[:len(data) // 2]


class Film:
    """One film, and one output of the program for it."""

    def __init__(self, kind, name, recipe, to, change=None, known=None, properties='', options='', error=None, least=34.0,
                 quick=False, decoder=None, damaged=False, needs='', says=''):
        self.kind = kind                # what bug reports call the film
        self.name = name                # the file of the film
        self.recipe = recipe            # ffmpeg's arguments
        self.to = to                    # the container of the output
        self.change = change            # what happens to the bytes of the file
        self.known = known or {}        # deviations and their reasons
        self.properties = properties or 'mask=identity'
        self.options = options          # of the program
        self.error = error              # what the program's only line says where the film is refused
        self.least = least              # dB, the worst frame
        self.quick = quick              # belongs to the short run
        self.decoder = decoder          # the one of ffmpeg that knows the alpha of this film
        self.damaged = damaged          # frames may be lost, but the program has to say so
        self.says = says                # what the program has to say
        self.needs = needs              # an element without which the film is left out


FILMS = [
    # Phones
    Film('phone, turned by 90', 'phone-90.mp4', PICTURE + SOUND + H264 + AAC, 'mp4', turn(90), quick=True),
    Film('phone, turned by 180', 'phone-180.mov', PICTURE + SOUND + H264 + AAC, 'mov', turn(180)),
    Film('phone, turned by 270, to mkv', 'phone-270.mp4', PICTURE + SOUND + H264 + AAC, 'mkv', turn(270)),
    Film('phone, mirrored', 'phone-mirrored.mp4', PICTURE + SOUND + H264 + AAC, 'mp4', turn(0, True)),
    Film('phone, 90, to webm', 'phone-90.mp4', '', 'webm', known=anew('AAC', 'WebM')),
    Film('camera, JPEG pictures, turned by 90', 'jpeg-90.mov', PICTURE + '-c:v mjpeg -q:v 2 -pix_fmt yuvj420p', 'mp4', turn(90), quick=True),
    Film('camera, JPEG pictures, turned by 270, to mkv', 'jpeg-270.mov', PICTURE + '-c:v mjpeg -q:v 2 -pix_fmt yuvj420p', 'mkv', turn(270)),
    Film('camera, JPEG pictures, wide pixels', 'jpeg-wide.mkv', PICTURE + '-c:v mjpeg -q:v 2 -pix_fmt yuvj420p -aspect 64/27', 'mkv', quick=True),
    Film('phone, with day, place and camera', 'recorded.mov', PICTURE + SOUND + H264 + AAC + RECORDED, 'mov', quick=True),
    Film('the same, to mp4', 'recorded.mov', '', 'mp4'),
    Film('the same, to mkv', 'recorded.mov', '', 'mkv',
         known={'tags: com.': 'Matroska has no tags of QuickTime'}),
    Film('camera with a place', 'place.mp4', PICTURE + SOUND + H264 + AAC + '-metadata location=+48.1000+011.5000/ '
         '-metadata creation_time=2019-05-06T07:08:09Z', 'mp4'),
    # High dynamic range, depth and chroma
    Film('HDR10 with mastering data', 'hdr10.mp4', PICTURE + SOUND + H265 + ':colorprim=bt2020:transfer=smpte2084:'
         'colormatrix=bt2020nc:hdr10=1:master-display=G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,1):'
         'max-cll=1000,400 -pix_fmt yuv420p10le -tag:v hvc1 -color_primaries bt2020 -color_trc smpte2084 '
         '-colorspace bt2020nc ' + AAC, 'mp4', quick=True),
    Film('HDR10, to mkv', 'hdr10.mp4', '', 'mkv'),
    Film('HLG', 'hlg.mkv', PICTURE + H265 + ':colorprim=bt2020:transfer=arib-std-b67:colormatrix=bt2020nc '
         '-pix_fmt yuv420p10le -color_primaries bt2020 -color_trc arib-std-b67 -colorspace bt2020nc', 'mkv'),
    Film('ProRes 422', 'prores-422.mov', PICTURE + SOUND + '-c:v prores_ks -profile:v 2 -pix_fmt yuv422p10le '
         '-c:a pcm_s24le', 'mov'),
    Film('ProRes 4444 with alpha', 'prores-4444.mov', PICTURE + '-c:v prores_ks -profile:v 4 -pix_fmt yuva444p10le '
         "-vf 'format=yuva444p10le,geq=lum=p(X\\,Y):a=X*3'", 'mkv', options='--codec=ffv1',
         known={'depth': 'GStreamer 1.22 has no format of 12 bits with alpha'}),
    Film('H.264 4:4:4', 'h264-444.mp4', PICTURE + H264_ + '-pix_fmt yuv444p', 'mp4'),
    Film('H.264 10 bit 4:2:2', 'h264-422-10.mp4', PICTURE + SOUND + H264_ + '-pix_fmt yuv422p10le ' + AAC, 'mp4'),
    Film('gray', 'gray.mkv', PICTURE + FFV1 + '-pix_fmt gray', 'mkv', options='--codec=ffv1'),
    Film('FFV1 of 16 bits', 'ffv1-16.mkv', PICTURE + FFV1 + '-pix_fmt gray16le', 'mkv', options='--codec=ffv1'),
    Film('FFV1 RGB', 'ffv1-rgb.mkv', PICTURE + FFV1 + '-pix_fmt bgr0', 'mkv', options='--codec=ffv1'),
    Film('MJPEG, full range', 'mjpeg.avi', PICTURE + '-c:v mjpeg -q:v 2 -pix_fmt yuvj420p', 'mp4'),
    Film('H.264, full range', 'full-range.mp4', PICTURE + H264_ + '-pix_fmt yuvj420p', 'mp4'),
    # Colours as they are tagged
    Film('tags of BT.709', 'bt709.mp4', PICTURE + H264 + '-color_primaries bt709 -color_trc bt709 -colorspace bt709', 'mp4'),
    Film('tags of BT.601', 'bt601.mp4', PICTURE + H264 + '-color_primaries smpte170m -color_trc smpte170m '
         '-colorspace smpte170m', 'mp4'),
    Film('tags of BT.601 for PAL', 'bt470.mkv', PICTURE + H264 + '-color_primaries bt470bg -color_trc bt709 '
         '-colorspace bt470bg', 'mkv'),
    Film('tags of BT.2020', 'bt2020.mp4', PICTURE + H264_ + '-pix_fmt yuv420p10le -color_primaries bt2020 '
         '-color_trc bt2020-10 -colorspace bt2020nc', 'mp4'),
    # Fields
    Film('DV, bottom field first', 'dv.avi', LARGER + SOUND + '-c:v dvvideo -pix_fmt yuv420p -flags +ilme+ildct '
         '-vf setfield=bff,setdar=4/3 -c:a pcm_s16le -shortest', 'mkv'),
    Film('MPEG-2 TS with fields, MP2, AC-3', 'fields.ts', LARGER + SOUND + SOUND2 + '-map 0 -map 1 -map 2 -c:v mpeg2video '
         '-q:v 2 -pix_fmt yuv420p -flags +ilme+ildct -top 1 -vf setfield=tff,setdar=16/9 -c:a:0 mp2 -c:a:1 ac3 '
         '-metadata:s:a:0 language=deu -metadata:s:a:1 language=eng', 'mkv'),
    Film('MPEG-2 without fields', 'progressive.ts', PICTURE + '-c:v mpeg2video -q:v 2 -pix_fmt yuv420p', 'mp4'),
    Film('H.264 with fields', 'fields-h264.mp4', LARGER + H264 + '-x264-params tff=1 -flags +ilme+ildct -vf setfield=tff', 'mp4'),
    # Times
    Film('screen recording, variable rate', 'variable.mkv', "-f lavfi -i testsrc2=s=320x180:r=60:d=1.5 -vf "
         "'select=not(mod(n\\,7))+lt(mod(n\\,23)\\,4)' -vsync vfr " + H264, 'mkv', quick=True),
    Film('variable rate, mp4', 'variable.mp4', "-f lavfi -i testsrc2=s=320x180:r=60:d=1.5 " + SOUND +
         "-vf 'select=not(mod(n\\,7))+lt(mod(n\\,23)\\,4)' -vsync vfr -bf 2 " + H264 + AAC, 'mp4'),
    Film('B-frames with an edit list', 'b-frames.mp4', PICTURE + SOUND + H264 + '-bf 3 ' + AAC, 'mp4'),
    Film('open GOPs', 'open-gop.mp4', PICTURE + H264 + '-bf 3 -g 10 -x264-params open-gop=1:b-pyramid=none', 'mp4'),
    Film('begins at 10 s, mkv', 'later.mkv', PICTURE + SOUND + H264 + AAC + '-output_ts_offset 10', 'mkv',
         known={'start': 'GStreamer counts from the first frame on',
                '(times|sound 1: sync|duration)': 'the first frame comes 21 ms early, because matroskademux begins with the picture '
                'and then finds earlier sound'}),
    Film('begins at 10 s, ts', 'later.ts', PICTURE + SOUND + H264 + AAC + '-output_ts_offset 10', 'mp4'),
    Film('sound begins before the picture', 'delayed.mkv', '-itsoffset 0.4 ' + PICTURE + SOUND + H264 + AAC, 'mkv'),
    Film('sound begins before the picture, mp4', 'delayed.mp4', '-itsoffset 0.4 ' + PICTURE + SOUND + H264 + AAC, 'mp4'),
    Film('cut without encoding', 'cut-copy.mp4', '-ss 1.1 -i uncut.mp4 -t 1.5 -c copy', 'mp4', quick=True, known=CUT),
    Film('cut without encoding, of one key frame', 'cut-late.mp4', '-ss 2.5 -i uncut.mp4 -t 1 -c copy', 'mkv', known=CUT),
    Film('240 frames/s', 'fast.mp4', '-f lavfi -i testsrc2=s=320x180:r=240:d=0.5 ' + H264, 'mp4'),
    Film('23.976 frames/s', 'film-rate.mp4', '-f lavfi -i testsrc2=s=320x180:r=24000/1001:d=1.2 ' + H264, 'mp4'),
    Film('29.97 frames/s, to mkv', 'ntsc.mp4', '-f lavfi -i testsrc2=s=320x180:r=30000/1001:d=1.2 ' + SOUND + H264 + AAC, 'mkv'),
    Film('one frame', 'one-frame.mp4', PICTURE + '-frames:v 1 ' + H264, 'mp4'),
    Film('one frame of 8K', '8k.mkv', '-f lavfi -i testsrc2=s=7680x4320:r=25:d=0.04 -c:v mjpeg -q:v 3 -pix_fmt yuvj420p',
         'mp4'),
    # Pictures that are not 320x180 squares
    Film('anamorphic, mp4', 'anamorphic.mp4', PICTURE + H264 + '-vf setsar=16/11', 'mp4'),
    Film('anamorphic, mkv', 'anamorphic.mkv', PICTURE + H264 + '-vf setsar=64/45', 'mkv'),
    Film('321x181', 'odd.webm', '-f lavfi -i testsrc2=s=320x180:r=25:d=1.2 -vf scale=321:181 -pix_fmt yuv420p ' + VP9, 'mkv'),
    Film('321x181, to mp4', 'odd.webm', '', 'mp4'),
    Film('stereo, left and right', 'stereo.mkv', PICTURE + H264 + '-metadata:s:v:0 stereo_mode=left_right', 'mkv',
         known={'aspect': 'GStreamer takes each eye for half a picture, twice as wide (not told)'}),
    Film('VP9 with alpha', 'alpha.webm', PICTURE + "-vf 'format=yuva420p,geq=lum=p(X\\,Y):a=X/2+60' -pix_fmt yuva420p " + VP9,
         'mkv', decoder='libvpx-vp9', options='--codec=ffv1'),
    Film('GIF', 'moving.gif', PICTURE, 'mp4', least=22.0,
         known={'(alpha|chroma)': 'GIFs are RGB with a mask, here an empty one (not told)',
                'rate': 'the mean is that of the times'}),
    Film('animated PNG', 'moving.png', PICTURE + '-f apng -plays 0 ', 'mp4', error='ffmpeg -i .*moving.png'),
    # Other streams
    Film('cover, mp4', 'cover.mp4', PICTURE + SOUND + '-i cover.jpg -map 0 -map 1 -map 2 ' + H264 + AAC +
         '-c:v:1 copy -disposition:v:1 attached_pic ' + TITLES, 'mp4', quick=True),
    Film('cover and a font, mkv', 'cover.mkv', PICTURE + SOUND + H264 + AAC + '-attach cover.jpg -metadata:s:t:0 '
         'mimetype=image/jpeg -attach font.ttf -metadata:s:t:1 mimetype=font/ttf ' + TITLES, 'mkv',
         known={'(cover|attachment)': 'GStreamer writes no attachments', 'tags: comment': COMMENT}),
    Film('two sounds, subtitles, chapters', 'rich.mkv', PICTURE + SOUND + SOUND2 + '-i de.srt -i en.srt -i chapters.txt -map 0 '
         '-map 1 -map 2 -map 3 -map 4 -map_metadata 5 ' + H264 + AAC + '-c:s srt -metadata:s:a:0 language=deu '
         '-metadata:s:a:1 language=eng -metadata:s:a:1 title=Commentary -disposition:a:0 0 -disposition:a:1 default '
         '-metadata:s:s:0 language=deu -metadata:s:s:1 language=eng -disposition:s:0 default -disposition:s:1 forced ' + TITLES, 'mkv',
         quick=True, known={'tags: comment': COMMENT}),
    Film('two sounds, subtitles, flags, to mp4', 'rich.mkv', '', 'mp4', known={
        r'subtitle \d: (text|codec)': 'GStreamer writes plain text into MP4'}),
    Film('names and flags in mp4', 'named.mp4', PICTURE + SOUND + SOUND2 + '-i de.srt -i en.srt -map 0 -map 1 -map 2 -map 3 -map 4 ' +
         H264 + AAC + '-c:s mov_text -metadata:s:a:0 title=Deutsch -metadata:s:a:1 title=Kommentar -disposition:a:0 0 '
         '-disposition:a:1 default+comment -disposition:s:0 0 -disposition:s:1 forced -metadata:s:s:1 title=Schilder '
         '-metadata creation_time=2019-05-06T07:08:09Z', 'mp4',
         known={r'subtitle \d: text': 'GStreamer writes plain text into MP4'}),
    Film('the same, to mkv', 'named.mp4', '', 'mkv', known={'subtitle': 'Matroska has no 3GPP text: it becomes plain text'}),
    Film('two sounds, mp4', 'two-sounds.mp4', PICTURE + SOUND + SOUND2 + '-map 0 -map 1 -map 2 ' + H264 + AAC +
         '-metadata:s:a:0 language=deu -metadata:s:a:1 language=eng ' + TITLES, 'mp4'),
    Film('subtitles in mp4', 'mov-text.mp4', PICTURE + SOUND + '-i de.srt -map 0 -map 1 -map 2 ' + H264 + AAC +
         '-c:s mov_text -metadata:s:s:0 language=deu', 'mp4', quick=True,
         known={'subtitle: text': 'GStreamer writes plain text into MP4'}),
    Film('WebVTT', 'webvtt.webm', PICTURE + SOUND + '-i de.srt -map 0 -map 1 -map 2 ' + VP9 + OPUS + '-c:s webvtt '
         '-metadata:s:s:0 language=deu', 'webm', known={'subtitle': 'GStreamer writes no subtitles into WebM'}),
    Film('WebVTT, to mkv', 'webvtt.webm', '', 'mkv', known={'subtitle': 'GStreamer 1.22 does not know WebVTT in WebM'}),
    Film('styled subtitles', 'styled.mkv', PICTURE + '-i de.srt -map 0 -map 1 ' + H264 + '-c:s ass', 'mkv'),
    Film('chapters, mp4', 'chapters.mp4', PICTURE + SOUND + '-i chapters.txt -map 0 -map 1 -map_metadata 2 ' + H264 + AAC,
         'mp4'),
    Film('chapters, to mkv', 'chapters.mp4', '', 'mkv', quick=True),
    Film('two pictures', 'two-pictures.mkv', PICTURE + '-f lavfi -i testsrc=s=160x90:r=25:d=1.2 -map 0 -map 1 ' + H264, 'mkv'),
    Film('time code', 'timecode.mov', PICTURE + H264 + '-timecode 01:00:00:00', 'mov',
         known={'timecode': 'GStreamer does not read time codes'}),
    Film('data, ts', 'data.ts', PICTURE + SOUND + '-f data -i font.ttf -map 0 -map 1 -map 2 -c:d copy ' + H264 + AAC, 'mkv',
         known={'data': "GStreamer's tsdemux shows no private data (not told)"}),
    Film('without sound', 'silent.mp4', PICTURE + H264, 'mp4'),
    # Sound of every kind
    Film('Opus', 'opus.webm', PICTURE + SOUND + VP9 + OPUS, 'webm', quick=True),
    Film('Vorbis, to mp4', 'vorbis.webm', PICTURE + SOUND + VP9 + '-c:a libvorbis', 'mp4', known=anew('Vorbis', 'MP4')),
    Film('FLAC', 'flac.mkv', PICTURE + SOUND + H264 + '-c:a flac', 'mkv'),
    Film('FLAC, to mp4', 'flac.mkv', '', 'mp4', known=anew('FLAC', 'MP4')),
    Film('PCM, to mp4', 'pcm.mov', PICTURE + SOUND + H264 + '-c:a pcm_s16le', 'mp4', known=anew('PCM', 'MP4')),
    Film('AAC 5.1', 'aac-51.mp4', PICTURE + SOUND + H264 + '-c:a aac -b:a 256k -ac 6', 'mp4'),
    Film('MP3 in mp4', 'mp3.mp4', PICTURE + SOUND + H264 + MP3, 'mp4'),
    # Other containers and codecs
    Film('DivX with MP3', 'divx.avi', PICTURE + SOUND + '-c:v mpeg4 -vtag DIVX -q:v 2 -bf 2 ' + MP3, 'mp4',
         known={'(rate|times|sound 1: (sync|times)|duration)': 'AVI has no times for B-frames, and GStreamer gives some of them '
                'twice'}),
    Film('FLV', 'film.flv', PICTURE + SOUND + '-ar 44100 ' + H264 + AAC, 'mp4'),
    Film('WMV', 'film.wmv', PICTURE + SOUND + '-c:v wmv2 -q:v 2 -c:a wmav2', 'mkv'),
    Film('AV1', 'av1.mp4', PICTURE + SOUND + '-c:v libsvtav1 -preset 12 -crf 20 -pix_fmt yuv420p ' + AAC, 'mp4'),
    Film('Theora', 'theora.ogv', PICTURE + SOUND + '-c:v libtheora -q:v 10 -c:a libvorbis', 'webm',
         known={'sound 1: times': "the last packet of Ogg's sound ends later"}),
    Film('another size in the middle', 'sizes.ts', '-i concat:first.ts|second.ts -c copy', 'mkv', says='changes its size from 320x180 to 240x240',
         known={'picture': 'all frames have the first size, and ffmpeg compares no films of two sizes'}),
    # Names
    Film('umlauts and spaces', 'Käse & "Brötchen" im Spätsommer.mp4', PICTURE + SOUND + H264 + AAC, 'mp4', quick=True),
    Film('a name with a dash in front', '-film.mp4', PICTURE + H264, 'mp4'),
    Film('a name with a colon and a star', 'a:b*[c]?#%20.mp4', PICTURE + H264, 'mkv'),
    # Films that are none, or no longer
    Film('sound alone', 'sound.m4a', SOUND + AAC, 'mp4', error='no video'),
    Film('an empty file', 'empty.mp4', PICTURE + H264, 'mp4', lambda data: b'', error='empty'),
    Film('no film at all', 'text.mp4', PICTURE + H264, 'mp4', lambda data: b'Hello\n' * 500, error=''),
    Film('cut off, no moov', 'cut.mp4', PICTURE + SOUND + H264 + AAC, 'mp4', half, error=''),
    Film('cut off, mkv', 'cut.mkv', PICTURE + SOUND + H264 + AAC, 'mkv', half, damaged=True),
    Film('overwritten, mp4', 'overwritten.mp4', PICTURE + SOUND + H264 + AAC, 'mp4', overwrite, damaged=True),
    Film('zeros in the middle', 'zeros.mp4', '-i uncut.mp4 -map 0:v -c copy', 'mp4', emptied, damaged=True, least=0, says='frames? could not be decoded'),
    Film('overwritten, ts', 'overwritten.ts', PICTURE + SOUND + H264 + AAC, 'mkv', overwrite, damaged=True),
]
